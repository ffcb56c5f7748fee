//! H05 to H08: what file tools must not break.
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use harness_llm_mock::{Reply, txt};
use serde_json::json;

use crate::{call, rig};

fn read(path: &str) -> Reply {
    call("r", "read", json!({ "file_path": path }))
}
fn edit(path: &str, old: &str, new: &str) -> Reply {
    call("e", "edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
}

/// H05: an ambiguous match.
#[test]
fn an_ambiguous_edit_changes_nothing_and_says_where() {
    let before = "def dev():\n    debug = True\n\ndef prod():\n    debug = True\n";
    let rig = rig([
        read("m.py"),
        edit("m.py", "    debug = True", "    debug = False"),
        edit("m.py", "    debug = True", "    debug = True"),
        edit("m.py", "", "x"),
        txt("stop"),
        read("m.py"),
        call(
            "e",
            "edit",
            json!({
                "file_path": "m.py", "old_string": "    debug = True", "new_string": "    debug = False",
                "replace_all": true,
            }),
        ),
        txt("done"),
    ]);
    rig.file("m.py", before);
    assert_eq!(rig.run("go").code, Some(0));
    let ambiguous = rig.tool_result(3);
    assert!(ambiguous.starts_with("Error:") && ambiguous.contains("2 times, at lines 2, 5"), "{ambiguous}");
    assert!(rig.tool_result(4).starts_with("Error:"), "{}", rig.tool_result(4));
    assert!(rig.tool_result(5).starts_with("Error:"), "{}", rig.tool_result(5));
    assert_eq!(rig.bytes("m.py"), before.as_bytes());
    assert_eq!(rig.resume("all of them").code, Some(0));
    assert!(rig.tool_result(8).contains("2 replacements"), "{}", rig.tool_result(8));
    assert_eq!(rig.bytes("m.py"), before.replace("True", "False").as_bytes());
}

/// H06: an LF edit in a CRLF file.
#[test]
fn a_crlf_file_keeps_its_line_endings() {
    let rig = rig([read("f"), edit("f", "one\ntwo", "ONE\nTWO\nextra"), txt("done")]);
    rig.file("f", "one\r\ntwo\r\nthree\r\n");
    assert_eq!(rig.run("go").code, Some(0));
    assert_eq!(rig.bytes("f"), b"ONE\r\nTWO\r\nextra\r\nthree\r\n");
}

/// H07: links and modes survive a write.
#[test]
fn links_and_modes_survive() {
    let rig = rig([
        read("link.sh"),
        edit("link.sh", "old", "new"),
        read("hl"),
        call("w", "write", json!({ "file_path": "hl", "content": "both\n" })),
        txt("done"),
    ]);
    let real = rig.file("real/run.sh", "echo old\n");
    std::fs::set_permissions(&real, PermissionsExt::from_mode(0o750)).unwrap();
    symlink("real/run.sh", rig.workspace().join("link.sh")).unwrap();
    let original = rig.file("h0", "one\n");
    std::fs::hard_link(&original, rig.workspace().join("hl")).unwrap();
    let finished = rig.run("go");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let link = std::fs::symlink_metadata(rig.workspace().join("link.sh")).unwrap();
    assert!(link.file_type().is_symlink());
    assert_eq!(rig.bytes("real/run.sh"), b"echo new\n");
    assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o7777, 0o750);
    assert_eq!((rig.bytes("h0"), rig.bytes("hl")), (b"both\n".to_vec(), b"both\n".to_vec()));
    for folder in [rig.workspace(), rig.workspace().join("real")] {
        let names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let expected = ["real", "link.sh", "h0", "hl", "run.sh"];
        assert!(names.iter().all(|name| expected.contains(&name.to_str().unwrap())), "leftovers: {names:?}");
    }
}

/// H08: a link that leads out of the workspace.
#[test]
fn writes_stay_inside_the_workspace_whatever_the_links_say() {
    for through_a_link in [false, true] {
        let rig = rig([
            read("out/v.txt"),
            call("w", "write", json!({ "file_path": "out/new.txt", "content": "x" })),
            edit("out/v.txt", "orig", "changed"),
            call("w", "write", json!({ "file_path": "out/../../outside/x", "content": "x" })),
            call("w", "write", json!({ "file_path": "inner/fine.txt", "content": "fine\n" })),
            txt("done"),
        ]);
        let outside = rig.root().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("v.txt"), "orig").unwrap();
        symlink(&outside, rig.workspace().join("out")).unwrap();
        std::fs::create_dir(rig.workspace().join("real")).unwrap();
        symlink("real", rig.workspace().join("inner")).unwrap();
        let cwd = if through_a_link {
            let alias = rig.root().join("alias");
            symlink(rig.workspace(), &alias).unwrap();
            alias
        } else {
            rig.workspace()
        };
        let finished = rig.run_with("go", ["--cwd", cwd.to_str().unwrap()]).run();
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        assert!(rig.tool_result(2).contains("orig"), "reads outside are allowed: {}", rig.tool_result(2));
        for n in [3, 4, 5] {
            let result = rig.tool_result(n);
            assert!(result.starts_with("Error:"), "{result}");
            // `out/../..` is the parent of where the link leads, as the system has it.
            let named = if n == 5 { rig.root().parent().unwrap().join("outside/x") } else { outside.clone() };
            assert!(result.contains(named.to_str().unwrap()), "it names the resolved path: {result}");
        }
        assert_eq!(std::fs::read(outside.join("v.txt")).unwrap(), b"orig");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(rig.bytes("real/fine.txt"), b"fine\n");
        assert!(rig.story().contains("FS_OUTSIDE_WORKSPACE"));
    }
}

/// A write outside is let through where the person says so.
#[test]
fn an_allowed_folder_outside_can_be_written() {
    let rig = rig([call("w", "write", json!({ "file_path": "../other/x", "content": "x" })), txt("done")]);
    let other = rig.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let rule = format!("write({}/*)", other.display());
    assert_eq!(rig.run_with("go", ["--allow", &rule]).run().code, Some(0));
    assert_eq!(std::fs::read(other.join("x")).unwrap(), b"x");
}

/// The same rule in the person's settings does the same.
#[test]
fn a_rule_in_the_settings_opens_its_folder() {
    let rig = rig([call("w", "write", json!({ "file_path": "../other/x", "content": "x" })), txt("done")]);
    let other = rig.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let settings = rig.home().join(".config/harness");
    std::fs::create_dir_all(&settings).unwrap();
    let rule = format!("[permissions]\nallow = [\"write({}/*)\"]\n", other.display());
    std::fs::write(settings.join("config.toml"), rule).unwrap();
    assert_eq!(rig.run("go").code, Some(0));
    assert_eq!(std::fs::read(other.join("x")).unwrap(), b"x", "{}", rig.story());
}

/// What was read before a resume counts after it; what changed meanwhile does not.
#[test]
fn a_resumed_session_knows_what_it_has_read() {
    let rig = rig([
        read("f"),
        txt("1"),
        edit("f", "one", "two"),
        txt("2"),
        edit("f", "outside", "three"),
        txt("3"),
    ]);
    rig.file("f", "one\n");
    assert_eq!(rig.run("read it").code, Some(0));
    assert_eq!(rig.resume("edit it").code, Some(0));
    assert_eq!(rig.bytes("f"), b"two\n");
    rig.file("f", "outside\n");
    assert_eq!(rig.resume("edit it again").code, Some(0));
    assert!(rig.tool_result(6).contains("changed since it was read"), "{}", rig.tool_result(6));
    assert_eq!(rig.bytes("f"), b"outside\n");
}
