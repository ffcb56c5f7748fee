//! What the demo's model says, and the small project that it mends.
use harness_llm_mock::{Reply, Script, ToolCall};
use serde_json::json;

/// File name and content of each file of the throw-away project.
pub(crate) const FILES: [(&str, &str); 3] = [
    (
        "price.sh",
        "# Prices in cents. $1: price of one, $2: how many; ten or more get 10 percent off.\n\
         total() {\n\
         \x20   sum=$(( $1 * $2 ))\n\
         \x20   if [ \"$2\" -gt 10 ]; then\n\
         \x20       sum=$(( sum * 90 / 100 ))\n\
         \x20   fi\n\
         \x20   echo \"$sum\"\n\
         }\n",
    ),
    (
        "test.sh",
        "#!/bin/sh\n\
         # Run: sh test.sh\n\
         . ./price.sh\n\
         failed=0\n\
         check() {\n\
         \x20   got=$(total \"$1\" \"$2\")\n\
         \x20   if [ \"$got\" = \"$3\" ]; then echo \"ok   total $1 $2 = $3\"; else echo \"FAIL total $1 $2: expected $3, got $got\"; failed=1; fi\n\
         }\n\
         check 200 1 200\n\
         check 200 9 1800\n\
         check 200 10 1800\n\
         check 200 20 3600\n\
         exit $failed\n",
    ),
    ("AGENTS.md", "Run the tests with `sh test.sh`. Plain POSIX sh only.\n"),
];

/// The task.
pub(crate) const TASK: &str = "The test fails. Find out why and fix it.";

/// Find the failure, read the code, mend it, check it.
pub(crate) fn script() -> Script {
    let call = |say: &str, name: &str, arguments: serde_json::Value| {
        Reply::new().pieces(words(say)).call(ToolCall::new(name, arguments).pieces(3))
    };
    let mut script = Script::new([
        call("I will run the tests first.", "bash", json!({ "command": "sh test.sh" })),
        call(
            "An order of exactly ten gets no discount. Let me look at the code.",
            "read",
            json!({ "file_path": "price.sh" }),
        ),
        call(
            "The comment says ten or more, but the code asks for more than ten.",
            "edit",
            json!({
                "file_path": "price.sh",
                "old_string": "if [ \"$2\" -gt 10 ]; then",
                "new_string": "if [ \"$2\" -ge 10 ]; then",
            }),
        ),
        call("Now the tests again.", "bash", json!({ "command": "sh test.sh" })),
        Reply::new().pieces(words(
            "Fixed: `price.sh` compared with -gt where the comment asks for ten or more; it is -ge now. \
             All four checks of test.sh pass.",
        )),
    ]);
    "scripted-demo".clone_into(&mut script.model);
    script
}

fn words(text: &str) -> Vec<String> {
    text.split_inclusive(' ').map(str::to_owned).collect()
}
