//! Parses request heads.

use super::connection::ReadError;
use super::request::Request;

/// More headers than any client of a model sends.
const MAX_HEADERS: usize = 128;

/// How the body of a request is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Known(usize),
    Chunked,
}

/// The head at the start of `buffer` and its length; `None` if it is not complete.
pub(crate) fn parse(buffer: &[u8]) -> Result<Option<(Request, usize)>, ReadError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(buffer) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(ReadError::refused(431, format!("more than {MAX_HEADERS} headers")));
        }
        Err(fault) => return Err(ReadError::refused(400, format!("malformed request head: {fault}"))),
    };
    let headers = parsed.headers.iter();
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        is_http11: parsed.version == Some(1),
        headers: headers
            .map(|header| (header.name.to_owned(), String::from_utf8_lossy(header.value).into_owned()))
            .collect(),
        ..Request::default()
    };
    Ok(Some((request, length)))
}

/// How long the body is, by RFC 9112 section 6.3; what is ambiguous is refused.
pub(crate) fn body_length(request: &Request) -> Result<BodyLength, ReadError> {
    let lengths: Vec<&str> = values(request, "content-length");
    let codings: Vec<&str> = values(request, "transfer-encoding");
    match (lengths.as_slice(), codings.as_slice()) {
        ([], []) => Ok(BodyLength::Known(0)),
        ([], [coding]) if coding.eq_ignore_ascii_case("chunked") => Ok(BodyLength::Chunked),
        ([], _) => Err(ReadError::refused(501, "transfer-encoding is not `chunked`".to_owned())),
        ([length], []) if length.bytes().all(|byte| byte.is_ascii_digit()) => length
            .parse()
            .map(BodyLength::Known)
            .map_err(|_| ReadError::refused(400, format!("content-length `{length}` is not a length"))),
        _ => Err(ReadError::refused(400, "the length of the body is given twice or malformed".to_owned())),
    }
}

fn values<'a>(request: &'a Request, name: &str) -> Vec<&'a str> {
    let headers = request.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    headers.map(|(_, value)| value.trim()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(headers: &[(&str, &str)]) -> Result<BodyLength, u16> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        body_length(&Request { headers, ..Request::default() }).map_err(|fault| match fault {
            ReadError::Refused { status, .. } => status,
            ReadError::Gone => 0,
        })
    }

    #[test]
    fn ambiguous_lengths_are_refused() {
        assert_eq!(length(&[]), Ok(BodyLength::Known(0)));
        assert_eq!(length(&[("Content-Length", " 12 ")]), Ok(BodyLength::Known(12)));
        assert_eq!(length(&[("Transfer-Encoding", "Chunked")]), Ok(BodyLength::Chunked));
        assert_eq!(length(&[("transfer-encoding", "gzip, chunked")]), Err(501));
        for bad in ["", "-1", "+1", "0x10", "1 2", "99999999999999999999999"] {
            assert_eq!(length(&[("content-length", bad)]), Err(400), "{bad:?}");
        }
        assert_eq!(length(&[("content-length", "3"), ("content-length", "3")]), Err(400));
        assert_eq!(length(&[("content-length", "3"), ("transfer-encoding", "chunked")]), Err(400));
    }

    #[test]
    fn heads_are_complete_partial_or_refused() {
        let text = b"POST /v1?x=1 HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\nbody";
        let (request, length) = parse(text).unwrap().unwrap();
        assert_eq!((request.path(), length, request.keeps_alive()), ("/v1", text.len() - 4, false));
        assert!(parse(&text[..30]).unwrap().is_none());
        assert!(matches!(parse(b"\x00\r\n\r\n"), Err(ReadError::Refused { status: 400, .. })));
    }
}
