//! The exported page in a real browser: everything is there to be read, and the page asks for nothing.
use std::net::TcpListener;
use std::path::Path;

use harness_llm::{Block, Message};
use harness_llm_mock::{Reply, ToolCall, txt};
use harness_session::{Body, Event};
use harness_testkit::Rig;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::wanted;

const HOSTILE: &str = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\
     \u{202e}exe.jpg\u{2066} & <b>bold</b>";

/// A session with everything in it.
fn session() -> Rig {
    let call = |name: &str, arguments: Value| ToolCall::new(name, arguments.to_string());
    let edit = json!({ "file_path": "a.py", "old_string": "    return 1", "new_string": "    # <img src=y>\n    return 2" });
    let rig = Rig::new(
        env!("CARGO_BIN_EXE_harness"),
        [
            Reply::new()
                .reasoning(["Think ", "first about reasons."])
                .pieces(["I look at ", "the file and **run** `it`."])
                .call(call("read", json!({ "file_path": "a.py" })))
                .call(call("bash", json!({ "command": "for i in $(seq 1 60); do echo \"row $i\"; done" }))),
            Reply::new()
                .pieces(["## Plan\n\n```python\nreturn 2\n```\n\nThat is all."])
                .call(call("edit", edit))
                .call(call(
                    "write",
                    json!({ "file_path": "new.txt", "content": "first line\nsecond line\n" }),
                ))
                .call(call("write", json!({ "file_path": "../../outside", "content": "never" }))),
            txt(HOSTILE),
            Reply::new().call(call(
                "write",
                json!({ "file_path": "new.txt", "content": "first line\nchanged line\n" }),
            )),
            txt("Changed as asked."),
            Reply::error(400, "no, says <i>the provider</i>"),
        ],
    );
    rig.file("a.py", "def one():\n    return 1\n\n\nprint(one())\n");
    assert_eq!(rig.run(&format!("Please {HOSTILE}")).code, Some(0));
    assert_eq!(rig.resume("And now\nthe second line.").code, Some(0));
    assert_eq!(rig.resume("Once more?").code, Some(1));
    rig
}

fn export(rig: &Rig) -> std::path::PathBuf {
    let file = rig.root().join("session.html");
    let finished = rig.command(["sessions", "export", &rig.session(), "--output"]).args([&file]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    file
}

/// What the eye reads: no white space, no marks that the page turns into type, hidden characters by name.
fn essence(text: &str) -> String {
    let text = text.replace('\u{202e}', "⟨U+202E⟩").replace('\u{2066}', "⟨U+2066⟩");
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '`' | '*' | '#')).collect()
}
fn visible(browser: &mut Browser) -> String {
    essence(browser.evaluate("document.body.innerText").as_str().unwrap())
}
fn texts(message: &Message) -> Vec<&str> {
    message.content.iter().filter_map(Block::as_text).collect()
}

#[test]
fn every_message_and_every_change_can_be_read_and_nothing_leaves_the_page() {
    if !wanted("it opens the exported page in Chromium") {
        return;
    }
    let rig = session();
    let file = export(&rig);
    let mut browser = Browser::start();
    browser.open(&file);
    quiet(&browser, &file);
    assert_ne!(browser.evaluate("document.title"), "owned");

    let events = rig.events();
    let seen = visible(&mut browser);
    for text in events.iter().flat_map(said) {
        assert!(seen.contains(&essence(text)), "{text:?} cannot be seen");
    }
    for line in [
        "- return 1",
        "+ # <img src=y>",
        "+ return 2",
        "+ first line",
        "+ second line",
        "- second line",
        "+ changed line",
    ] {
        assert!(seen.contains(&essence(line)), "the changed line {line:?} cannot be seen");
    }
    for part in [
        "says <i>the provider</i>",
        "FS_OUTSIDE_WORKSPACE",
        "Turn 1 completed",
        "openai/mock-model",
        &rig.session(),
    ] {
        assert!(seen.contains(&essence(part)), "{part:?} cannot be seen");
    }
    // What is long or aside opens without a script; here one does what a reader would.
    assert!(!seen.contains("row60") && !seen.contains("aboutreasons"));
    browser.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)");
    let seen = visible(&mut browser);
    assert!(seen.contains("Thinkfirstaboutreasons."));
    for text in events.iter().flat_map(results) {
        // Parts of a long result stand in blocks of their own.
        for line in text.lines() {
            assert!(seen.contains(&essence(line)), "{line:?} of a result cannot be seen");
        }
    }
    assert_eq!(browser.evaluate("document.querySelectorAll('script, img, link, iframe, b, i').length"), 0);
    assert_eq!(browser.evaluate("[...document.querySelectorAll('details')].every(part => part.firstElementChild.tagName == 'SUMMARY')"), true);

    // A narrow window needs no scrolling sideways, and each theme has its colours.
    let narrow = json!({ "width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", &narrow);
    let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    assert_eq!(browser.evaluate(fits), true);
    let mut colours = Vec::new();
    for theme in ["light", "dark"] {
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        browser.call("Emulation.setEmulatedMedia", &feature);
        colours.push(browser.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(colours[0], colours[1]);
    quiet(&browser, &file);
}

/// Nothing was asked for but the page itself, and nothing was complained about.
fn quiet(browser: &Browser, file: &Path) {
    assert_eq!(browser.requests, [format!("file://{}", file.display())]);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

fn said(event: &Event) -> Vec<&str> {
    match &event.body {
        Body::UserMessage(user) => texts(&user.message),
        Body::AssistantMessage(answer) => texts(&answer.message),
        _ => Vec::new(),
    }
}
fn results(event: &Event) -> Vec<&str> {
    let Body::ToolResult(result) = &event.body else { return Vec::new() };
    let blocks = result.message.content.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(&result.content),
        _ => None,
    });
    blocks.flatten().filter_map(Block::as_text).collect()
}

#[test]
fn the_check_sees_a_page_that_fetches_and_one_that_complains() {
    if !wanted("it opens pages in Chromium") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://127.0.0.1:{}/pixel.png", listener.local_addr().unwrap().port());
    // It is asked, and hangs up.
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let folder = tempfile::tempdir().unwrap();
    let mut browser = Browser::start();

    let page = folder.path().join("fetches.html");
    std::fs::write(&page, format!("<!doctype html><p>text</p><img src=\"{address}\">")).unwrap();
    browser.open(&page);
    assert!(browser.requests.contains(&address), "{:?}", browser.requests);

    let page = folder.path().join("refuses.html");
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">";
    std::fs::write(&page, format!("<!doctype html>{policy}<img src=\"{address}\">")).unwrap();
    browser.open(&page);
    assert!(!browser.complaints.is_empty(), "a refusal of the policy is a complaint");

    let page = folder.path().join("hides.html");
    std::fs::write(&page, "<!doctype html><details><summary>seen</summary>unseen</details>").unwrap();
    browser.open(&page);
    assert_eq!(visible(&mut browser), "seen");
}
