//! Makes a test of each case.

/// Makes a test of each case of the suite; the argument is an expression that makes a fresh
/// [`Fixture`](crate::contract::Fixture).
#[macro_export]
macro_rules! file_system_contract {
    ($fixture:expr) => {
        $crate::file_system_contract! { @ $fixture;
            paths: existing_and_absent_are_told_apart unusable_paths_are_refused links_are_followed
                dot_dot_is_that_of_the_real_directory a_trailing_slash_means_a_directory;
            reads: a_window_is_read_with_its_version missing_and_wrong_kinds_are_refused binary_files_are_refused
                bytes_are_read_up_to_the_limit directories_are_listed_in_order;
            writes: a_file_is_created_with_its_directories a_file_is_replaced_and_the_old_text_returned
                create_only_spares_what_exists a_guarded_write_needs_the_same_state versions_follow_the_content
                the_format_is_kept_on_demand wrong_targets_are_refused_and_unchanged a_write_goes_through_a_link;
            edits: an_ambiguous_edit_changes_nothing crlf_and_mark_survive
                the_guard_comes_before_the_match wrong_edits_are_refused_and_change_nothing
                a_chain_of_edits_carries_its_version concurrent_edits_lose_nothing;
        }
    };
    (@ $fixture:expr; $($group:ident: $($case:ident)*;)*) => {$(
        mod $group {
            #[allow(unused_imports, reason = "the expression may need nothing from its surroundings")]
            use super::*;
            $(
                #[tokio::test]
                async fn $case() {
                    let fixture = $fixture;
                    $crate::contract::$group::$case(&fixture).await;
                }
            )*
        }
    )*};
}
