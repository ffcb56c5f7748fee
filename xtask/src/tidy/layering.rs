//! Which package may name which, by what the manifests declare.
use super::layers::{EXCEPTIONS, LAYERS, kind_of};
use crate::finding::Finding;
use crate::workspace::Member;

const TABLE: &str = "xtask/src/tidy/layers.rs";
/// Where a boxed error without a code would reach users of a library.
const APPS_ONLY: &[(&str, &str)] = &[
    ("anyhow", "a library's errors are typed"),
    ("tracing-subscriber", "the program decides where traces go"),
];

pub(super) fn check(members: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in members {
        match kind_of(&member.name) {
            Some(_) => edges(member, members, &mut findings),
            None => findings.push(Finding::whole(
                member.manifest(),
                format!("`{}` has no kind yet; list it in {TABLE}", member.name),
            )),
        }
        if member.folder.starts_with("crates/") {
            outside(member, &mut findings);
        }
    }
    stale(members, &mut findings);
    findings
}

fn edges(member: &Member, members: &[Member], findings: &mut Vec<Finding>) {
    let Some(kind) = kind_of(&member.name) else { return };
    for dependency in member.dependencies.iter().filter(|dependency| !dependency.is_dev()) {
        let ours = members.iter().any(|other| other.name == dependency.name);
        let Some(on) = kind_of(&dependency.name).filter(|_| ours) else { continue };
        let excepted = EXCEPTIONS
            .iter()
            .any(|(from, to, _)| (*from, *to) == (member.name.as_str(), dependency.name.as_str()));
        if !excepted && !kind.may_use().contains(&on) {
            let allowed: Vec<_> = kind.may_use().iter().map(ToString::to_string).collect();
            let allowed = if allowed.is_empty() { "nothing of ours".to_owned() } else { allowed.join(", ") };
            findings.push(Finding::whole(
                member.manifest(),
                format!(
                    "`{}` ({kind}) depends on `{}` ({on}); a {kind} may depend on: {allowed}. Go through the seam, or \
                     make it a dev-dependency if only tests need it",
                    member.name, dependency.name
                ),
            ));
        }
    }
}

fn outside(member: &Member, findings: &mut Vec<Finding>) {
    for (package, reason) in APPS_ONLY {
        if member.dependencies.iter().any(|dependency| dependency.name == *package && !dependency.is_dev()) {
            findings.push(Finding::whole(
                member.manifest(),
                format!("`{}` depends on `{package}`, which only apps and xtask may: {reason}", member.name),
            ));
        }
    }
}

fn stale(members: &[Member], findings: &mut Vec<Finding>) {
    for (name, _) in LAYERS {
        if !members.iter().any(|member| member.name == *name) {
            findings.push(Finding::whole(
                TABLE,
                format!("`{name}` is listed, but there is no such package; remove it"),
            ));
        }
    }
    for (from, to, _) in EXCEPTIONS {
        let used = members.iter().any(|member| {
            member.name == *from
                && member.dependencies.iter().any(|dependency| dependency.name == *to && !dependency.is_dev())
        });
        if !used {
            findings.push(Finding::whole(
                TABLE,
                format!("the exception `{from}` on `{to}` is not used; remove it"),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;
    use crate::workspace::Dependency;

    /// The whole table as a workspace without edges, but for those given as `from -> to` or `from dev-> to`.
    fn workspace(edges: &[&str]) -> Vec<Member> {
        let mut members: Vec<_> = LAYERS
            .iter()
            .map(|(name, kind)| Member {
                name: (*name).into(),
                folder: format!(
                    "{}/{name}",
                    if *kind == super::super::layers::Kind::App { "apps" } else { "crates" }
                ),
                description: String::new(),
                dependencies: Vec::new(),
            })
            .collect();
        let always = EXCEPTIONS.iter().map(|(from, to, _)| format!("{from} -> {to}"));
        for edge in always.chain(edges.iter().map(ToString::to_string)) {
            let (from, to) = edge.split_once("->").unwrap();
            let (from, kind) = match from.trim().strip_suffix(" dev") {
                Some(from) => (from, Some("dev".into())),
                None => (from.trim(), None),
            };
            let member = members.iter_mut().find(|member| member.name == from).unwrap();
            member.dependencies.push(Dependency { name: to.trim().into(), kind });
        }
        members
    }

    #[track_caller]
    fn refused(edge: &str, expected: &str) {
        assert_findings(&check(&workspace(&[edge])), &[expected]);
    }

    #[test]
    fn the_edges_of_the_design_are_allowed() {
        let edges = [
            "harness-session -> harness-llm",
            "harness-tools -> harness-kernel",
            "harness-tool-bash -> harness-bash",
            "harness-bash-local -> harness-process",
            "harness-bundle -> harness-agent-loop",
            "harness -> harness-bundle",
            "harness-tools dev-> harness-testkit",
            "harness-agent-loop dev-> harness-session-jsonl",
        ];
        assert_findings(&check(&workspace(&edges)), &[]);
    }

    #[test]
    fn each_forbidden_edge_is_refused() {
        refused("harness-kernel -> harness-llm", "`harness-kernel` (kernel) depends on `harness-llm` (seam)");
        refused("harness-session -> harness-http", "a seam may depend on: kernel, seam");
        refused("harness-tool-bash -> harness-bash-local", "`harness-bash-local` (implementation)");
        refused("harness-fs-policy -> harness-fs-local", "`harness-fs-local` (implementation)");
        refused("harness-tool-fs -> harness-agent-loop", "`harness-agent-loop` (implementation)");
        refused("harness-tools -> harness-testkit", "`harness-testkit` (testkit)");
        refused("harness -> harness-testkit", "`harness-testkit` (testkit)");
        refused("harness-sse -> harness-kernel", "`harness-sse` (primitive)");
        refused("harness-process -> harness-bash", "`harness-process` (primitive)");
        refused("harness-tools -> anyhow", "only apps and xtask may");
    }

    #[test]
    fn the_table_and_the_workspace_must_agree() {
        let mut members = workspace(&[]);
        members.retain(|member| member.name != "harness-fs-policy");
        let mut stranger = members[0].clone();
        stranger.name = "harness-new".into();
        members.push(stranger);
        assert_findings(
            &check(&members),
            &["`harness-new` has no kind yet", "`harness-fs-policy` is listed, but there is no such package"],
        );
    }

    #[test]
    fn an_exception_that_nobody_uses_is_stale() {
        let mut members = workspace(&[]);
        for member in &mut members {
            member.dependencies.clear();
        }
        let stale: Vec<_> =
            EXCEPTIONS.iter().map(|(from, to, _)| format!("the exception `{from}` on `{to}`")).collect();
        let stale: Vec<_> = stale.iter().map(String::as_str).collect();
        assert_findings(&check(&members), &stale);
    }
}
