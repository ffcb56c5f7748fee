//! Event tables: what each odd form of the wire becomes.
mod support;

use harness_llm::{Block, Message, ToolCallBlock};
use harness_llm_chat_completions::{Compat, StreamDecoder};
use harness_llm_http::{Ending, Redactor, StreamSite};
use secrecy::SecretString;
use support::{call, check, decode, decode_with, delta, finish, line, request};

fn done() -> String {
    "[DONE]".into()
}

#[test]
fn text_streams_and_ends_at_the_sentinel() {
    let chunks = decode(&[
        delta(r#"{"role":"assistant","content":""}"#),
        delta(r#"{"content":"Hel"}"#),
        delta(r#"{"content":"lo"}"#),
        finish("stop"),
        done(),
    ]);
    assert_eq!(chunks, ["0 text", "0 + Hel", "0 + lo", "0 end", "stop"]);
}

#[test]
fn reasoning_comes_first_in_both_spellings_and_once() {
    for field in ["reasoning_content", "reasoning"] {
        let chunks = decode(&[
            delta(&format!(r#"{{"{field}":""}}"#)),
            delta(&format!(r#"{{"content":"a","{field}":"r"}}"#)),
            finish("stop"),
            done(),
        ]);
        assert_eq!(chunks, ["0 reasoning", "0 + r", "1 text", "1 + a", "0 end", "1 end", "stop"], "{field}");
    }
    let both = decode(&[
        delta(r#"{"reasoning_content":"r","reasoning":"r"}"#),
        delta(r#"{"content":null,"reasoning":{"text":"x","list":[1,true,null,2.5,-1]}}"#),
        finish("stop"),
        done(),
    ]);
    assert_eq!(both, ["0 reasoning", "0 + r", "0 end", "stop"]);
}

#[test]
fn a_refusal_is_what_the_model_says() {
    let chunks = decode(&[delta(r#"{"content":null,"refusal":"I cannot"}"#), finish("stop"), done()]);
    assert_eq!(chunks, ["0 text", "0 + I cannot", "0 end", "stop"]);
}

#[test]
fn parallel_calls_are_told_apart_by_index() {
    let chunks = decode(&[
        call(r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#),
        call(r#"{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{\"x\""}}"#),
        call(r#"{"index":0,"function":{"arguments":"{}"}}"#),
        call(r#"{"index":1,"function":{"arguments":":1}"}}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(
        chunks,
        ["0 call f a", "1 call g b", r#"1 + {"x""#, "0 + {}", "1 + :1}", "0 end", "1 end", "tool-calls"]
    );
}

#[test]
fn several_fragments_may_share_an_event() {
    let chunks = decode(&[
        call(
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"g","arguments":"[]"}}"#,
        ),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(chunks, ["0 call f a", "0 + {}", "1 call g b", "1 + []", "0 end", "1 end", "tool-calls"]);
}

#[test]
fn a_call_waits_for_its_name_and_later_calls_wait_for_it() {
    let chunks = decode(&[
        call(r#"{"index":0,"function":{"arguments":"{"}}"#),
        call(r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}"#),
        call(r#"{"index":0,"id":"a"}"#),
        call(r#"{"index":0,"function":{"name":"f","arguments":"}"}}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(chunks, ["0 call f a", "0 + {}", "1 call g b", "1 + {}", "0 end", "1 end", "tool-calls"]);
}

#[test]
fn without_an_index_the_id_or_the_order_decides() {
    let chunks = decode(&[
        call(r#"{"id":"a","function":{"name":"f","arguments":"{"}}"#),
        call(r#"{"function":{"arguments":"}"}}"#),
        call(r#"{"id":"b","function":{"name":"g","arguments":""}}"#),
        call(r#"{"id":"b","function":{"arguments":"{}"}}"#),
        call(r#"{"function":{"name":"h","arguments":"{}"}}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(
        chunks,
        [
            "0 call f a",
            "0 + {",
            "0 + }",
            "1 call g b",
            "1 + {}",
            "2 call h minted",
            "2 + {}",
            "0 end",
            "1 end",
            "2 end",
            "tool-calls"
        ]
    );
}

#[test]
fn one_index_for_every_call_is_understood() {
    let with_ids = decode(&[
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
        call(r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(with_ids, ["0 call f a", "0 + {}", "1 call f b", "1 + {}", "0 end", "1 end", "tool-calls"]);
    let without_ids = decode(&[
        call(r#"{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}"#),
        call(r#"{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}"#),
        finish("stop"),
        done(),
    ]);
    assert_eq!(
        without_ids,
        ["0 call f minted", "0 + {}", "1 call f minted", "1 + {}", "0 end", "1 end", "tool-calls"]
    );
    let named_late = decode(&[
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
        call(r#"{"index":0,"id":"b","function":{"arguments":"{}"}}"#),
        call(r#"{"index":0,"id":"b","function":{"name":"g"}}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(named_late, ["0 call f a", "0 + {}", "1 call g b", "1 + {}", "0 end", "1 end", "tool-calls"]);
}

#[test]
fn identity_repeated_in_each_fragment_is_one_call() {
    let same = decode(&[
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#),
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(same, ["0 call f a", "0 + {", "0 + }", "0 end", "tool-calls"]);
    let name_only = decode(&[
        call(r#"{"index":0,"function":{"name":"f","arguments":"{"}}"#),
        call(r#"{"index":0,"function":{"name":"f","arguments":"}"}}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(name_only, ["0 call f minted", "0 + {", "0 + }", "0 end", "tool-calls"]);
    let fresh_ids = decode(&[
        call(r#"{"index":0,"id":"r1","function":{"name":"f","arguments":""}}"#),
        call(r#"{"index":0,"id":"r2","function":{"name":null,"arguments":"{}"}}"#),
        call(r#"{"index":0,"id":"r3","function":{"arguments":""}}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(fresh_ids, ["0 call f r1", "0 + {}", "0 end", "tool-calls"]);
}

#[test]
fn ids_used_before_are_replaced() {
    let past = ToolCallBlock { id: "call_1".into(), name: "f".into(), arguments: "{}".into() };
    let history = request(vec![Message::assistant("p", "m", vec![Block::ToolCall(past)])]);
    let events = [
        call(r#"{"index":0,"id":"call_1","function":{"name":"f","arguments":"{}"}}"#),
        call(r#"{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}"#),
        call(r#"{"index":2,"id":"b","function":{"name":"f","arguments":"{}"}}"#),
        finish("tool_calls"),
        done(),
    ];
    let chunks = decode_with(history, &Compat::default(), &events, Ending::Clean);
    let starts: Vec<_> = chunks.iter().filter(|line| line.contains("call ")).collect();
    assert_eq!(starts, ["0 call f minted", "1 call f b", "2 call f minted"]);
}

#[test]
fn arguments_may_be_an_object_and_ghost_fragments_are_nothing() {
    let chunks = decode(&[
        call(r#"{"index":0}"#),
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":{"x": [1]}}}"#),
        call(r#"{"index":0,"function":{"arguments":null}}"#),
        delta(r#"{"tool_calls":null}"#),
        delta(r#"{"tool_calls":[]}"#),
        finish("tool_calls"),
        done(),
    ]);
    assert_eq!(chunks, ["0 call f a", r#"0 + {"x": [1]}"#, "0 end", "tool-calls"]);
}

#[test]
fn a_call_without_a_name_is_an_error_unless_the_limit_cut_it_off() {
    let nameless =
        [call(r#"{"index":0,"id":"a","function":{"arguments":"{"}}"#), delta(r#"{"content":"t"}"#)];
    let chunks = decode(&[&nameless[..], &[finish("tool_calls"), done()]].concat());
    assert_eq!(
        chunks,
        ["0 text", "0 + t", "MALFORMED_RESPONSE: the model server sent a tool call without a name"]
    );
    let chunks = decode(&[&nameless[..], &[finish("length"), done()]].concat());
    assert_eq!(chunks, ["0 text", "0 + t", "0 end", "max-tokens"]);
    let waiting = call(r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}"#);
    let chunks = decode(&[nameless[0].clone(), waiting, finish("length"), done()]);
    assert_eq!(chunks, ["0 call g b", "0 + {}", "0 end", "max-tokens"]);
}

#[test]
fn usage_is_reported_once_before_the_finish_and_the_last_one_counts() {
    let usage = |prompt, completion| {
        format!(r#"{{"choices":[],"usage":{{"prompt_tokens":{prompt},"completion_tokens":{completion}}}}}"#)
    };
    let attached = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"#;
    let null = r#"{"choices":[{"delta":{"content":"x"}}],"usage":null}"#;
    let tail = ["0 text", "0 + x", "0 end"];
    for (events, reported) in [
        (vec![null.into(), attached.into(), done()], Some("usage 5 2 cached 4")),
        (vec![null.into(), finish("stop"), usage(7, 3), done()], Some("usage 7 3")),
        (
            vec![usage(1, 1), null.into(), attached.into(), usage(7, 3), usage(0, 0), done()],
            Some("usage 7 3"),
        ),
        (vec![null.into(), finish("stop"), usage(0, 0), done()], None),
        (
            vec![
                null.into(),
                finish("stop"),
                r#"{"choices":[],"usage":{"prompt_tokens":"many"}}"#.into(),
                done(),
            ],
            None,
        ),
    ] {
        let expected: Vec<_> = tail.into_iter().chain(reported).chain(["stop"]).collect();
        assert_eq!(decode(&events), expected, "{events:?}");
    }
}

#[test]
fn finish_reasons_mean_what_was_streamed() {
    let text = delta(r#"{"content":"t"}"#);
    let tool = call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}"#);
    for (event, reason, end) in [
        (&text, "stop", "stop"),
        (&text, "tool_calls", "stop"),
        (&text, "length", "max-tokens"),
        (&tool, "stop", "tool-calls"),
        (&tool, "function_call", "tool-calls"),
        (&tool, "length", "max-tokens"),
    ] {
        let chunks = decode(&[event.clone(), finish(reason), done()]);
        assert_eq!(chunks.last().unwrap(), end, "{reason} after {event}");
    }
    let first_counts = decode(&[text.clone(), finish("length"), finish("stop"), done()]);
    assert_eq!(first_counts.last().unwrap(), "max-tokens");
}

#[test]
fn an_answer_that_is_none_is_an_error() {
    let empty = decode(&[
        delta(r#"{"role":"assistant","content":""}"#),
        finish("stop"),
        r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#.into(),
        done(),
    ]);
    assert_eq!(empty, ["usage 3 1", "EMPTY_RESPONSE: the model stopped without saying anything"]);
    let filtered = decode(&[delta(r#"{"content":"t"}"#), finish("content_filter"), done()]);
    assert!(filtered.last().unwrap().starts_with("CONTENT_FILTER: "), "{filtered:?}");
    let unknown = decode(&[delta(r#"{"content":"t"}"#), finish("insufficient_system_resource"), done()]);
    assert_eq!(
        unknown.last().unwrap(),
        "INSUFFICIENT_SYSTEM_RESOURCE: the model stopped for a reason that is not known here: \
         `insufficient_system_resource`"
    );
}

#[test]
fn endings_without_the_sentinel_are_told_apart() {
    let two = [delta(r#"{"content":"Let me "}"#), delta(r#"{"content":"compare"}"#)];
    let end = |events: &[String], ending| {
        decode_with(request(Vec::new()), &Compat::default(), events, ending).pop().unwrap()
    };
    let clean = end(&two, Ending::Clean);
    let cut = end(&two, Ending::Truncated { data: Some(r#"{"choices":[{"del"#) });
    let reset = end(&two, Ending::Broken { detail: "connection reset by peer", pending: 0 });
    let reset_inside = end(&two, Ending::Broken { detail: "connection reset by peer", pending: 7 });
    let nothing = end(&[], Ending::Clean);
    assert_eq!(
        clean,
        "STREAM_CLOSED: the model server closed the stream after 2 events, without a finish reason, but its end marker \
         `[DONE]` is missing; the answer may be cut off"
    );
    assert_eq!(
        cut,
        "STREAM_CLOSED: the model stream was cut in the middle of an event, after 2 events, without a finish reason; \
         the answer is incomplete"
    );
    assert_eq!(
        reset,
        "TRANSPORT: the connection to the model server broke after 2 events, without a finish reason: connection reset \
         by peer"
    );
    assert!(reset_inside.contains("7 bytes into the next one"), "{reset_inside}");
    assert_eq!(
        nothing,
        "STREAM_CLOSED: the model server accepted the request and closed the stream without sending anything"
    );
}

#[test]
fn the_sentinel_may_miss_its_blank_line_and_nothing_else() {
    let finished = [delta(r#"{"content":"t"}"#), finish("stop")];
    let sentinel = Ending::Truncated { data: Some("[DONE]") };
    let end = |compat: &Compat, events: &[String], ending| {
        decode_with(request(Vec::new()), compat, events, ending).pop().unwrap()
    };
    let strict = Compat::default();
    assert_eq!(end(&strict, &finished, sentinel.clone()), "stop");
    assert!(end(&strict, &finished[..1], sentinel.clone()).starts_with("STREAM_CLOSED: "));
    assert!(end(&strict, &finished, Ending::Clean).starts_with("STREAM_CLOSED: "));
    assert!(end(&strict, &finished, Ending::Truncated { data: Some("[DON") }).starts_with("STREAM_CLOSED: "));
    assert!(
        end(&strict, &[finished[0].clone(), done()], Ending::Clean).contains("never said why it stopped")
    );

    let optional = Compat { done_optional: true, ..Compat::default() };
    assert_eq!(end(&optional, &finished, Ending::Clean), "stop");
    assert_eq!(end(&optional, &finished, Ending::Truncated { data: None }), "stop");
    assert!(end(&optional, &finished[..1], Ending::Clean).starts_with("STREAM_CLOSED: "));
    let broken = Ending::Broken { detail: "reset", pending: 0 };
    assert!(end(&optional, &finished, broken).starts_with("TRANSPORT: "));
}

#[test]
fn errors_inside_a_stream_keep_the_provider_s_words() {
    let text = delta(r#"{"content":"t"}"#);
    for (event, expected) in [
        (r#"{"error":{"message":"busy","code":"moon_phase"}}"#, "moon_phase: "),
        (r#"{"error":{"message":"busy","code":429}}"#, "RATE_LIMIT: "),
        (r#"{"error":"busy"}"#, "SERVER: "),
        (r#"{"object":"error","message":"busy","code":500}"#, "SERVER: "),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"error","error":{"message":"busy","code":502}}]}"#,
            "SERVER: ",
        ),
    ] {
        let chunks = decode(&[text.clone(), event.into(), done()]);
        let last = chunks.last().unwrap();
        assert!(last.starts_with(expected) && last.contains("busy"), "{last}");
    }
    let harmless = decode(&[
        r#"{"error":null,"choices":[{"delta":{"content":"t"},"error":null}]}"#.into(),
        finish("stop"),
        done(),
    ]);
    assert_eq!(harmless.last().unwrap(), "stop");
    let mut chunks = Vec::new();
    let mut decoder = StreamDecoder::new(request(Vec::new()).into(), &Compat::default());
    decoder.push_error(r#"{"message":"busy"}"#, &mut chunks);
    assert!(line(chunks.last().unwrap()).starts_with("SERVER: "));
}

#[test]
fn bad_json_is_quoted_within_bounds_and_without_the_key() {
    // The key stands across the place where the quote is cut.
    let long = format!("{{\"choices\": {} sk-hush {}", "x".repeat(183), "y".repeat(5_000));
    let redactor = Redactor::new(SecretString::from("sk-hush"));
    let mut decoder = StreamDecoder::new(request(Vec::new()).into(), &Compat::default())
        .at(StreamSite { redactor, request_id: Some("r-7".into()) });
    let mut chunks = Vec::new();
    decoder.push(&long, &mut chunks);
    check(&chunks);
    let harness_llm::Chunk::Finish(end) = &chunks[0] else { panic!("{chunks:?}") };
    let failure = end.reason.failure().unwrap();
    assert_eq!(failure.code.as_str(), "MALFORMED_RESPONSE");
    assert_eq!(failure.request_id.as_deref(), Some("r-7"));
    assert!(failure.message.contains("xxx") && failure.message.len() < 400, "{failure}");
    assert!(!failure.message.contains("sk-"), "{failure}");
    decoder.push("[DONE]", &mut chunks);
    decoder.end(Ending::Clean, &mut chunks);
    assert_eq!(chunks.len(), 1, "nothing may follow the finish");
}

#[test]
fn half_characters_do_not_kill_the_stream() {
    let chunks = decode(&[
        delta(r#"{"content":"a\ud83d"}"#),
        delta(r#"{"content":"\ude00 \ud83d\ude00"}"#),
        finish("stop"),
        done(),
    ]);
    assert_eq!(chunks, ["0 text", "0 + a\u{fffd}", "0 + \u{fffd} 😀", "0 end", "stop"]);
}

#[test]
fn other_answers_and_unknown_fields_are_passed_over() {
    let chunks = decode(&[
        r#"{"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"mine","audio":{}},"logprobs":null}],"x":[{}]}"#.into(),
        r#"{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}"#.into(),
        r#"{"choices":null}"#.into(),
        "{}".into(),
        "  ".into(),
        r#"{"choices":[{"delta":null,"finish_reason":""}]}"#.into(),
        finish("stop"),
        done(),
    ]);
    assert_eq!(chunks, ["0 text", "0 + mine", "0 end", "stop"]);
}
