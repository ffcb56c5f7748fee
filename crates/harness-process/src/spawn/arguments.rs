//! The strings of an execve(2), laid out before the child exists: the child must not allocate.

use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::ptr::null;

/// Where execvp(3) looks when there is no PATH.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// A list of strings with the null-terminated list of their addresses.
#[derive(Debug)]
pub(super) struct Strings {
    _owned: Vec<CString>,
    addresses: Vec<*const c_char>,
}

impl Strings {
    pub(super) fn new(owned: Vec<CString>) -> Self {
        let addresses = owned.iter().map(|text| text.as_ptr()).chain([null()]).collect();
        Self { _owned: owned, addresses }
    }
    pub(super) fn as_ptr(&self) -> *const *const c_char {
        self.addresses.as_ptr()
    }
}

/// The files that `program` may name: itself if it has a slash, else one in each folder of PATH.
pub(super) fn candidates(program: &OsStr, env: &[(OsString, OsString)]) -> io::Result<Vec<CString>> {
    let program = program.as_bytes();
    if program.contains(&b'/') {
        return Ok(vec![CString::new(program)?]);
    }
    let path = env.iter().rev().find(|(name, _)| name == "PATH");
    let path = path.map_or(DEFAULT_PATH, |(_, value)| value.as_bytes());
    path.split(|byte| *byte == b':')
        // An empty entry is the working directory (POSIX, "Environment Variables").
        .map(|folder| if folder.is_empty() { &b"."[..] } else { folder })
        .map(|folder| Ok(CString::new([folder, b"/", program].concat())?))
        .collect()
}

/// The program's arguments, itself first.
pub(super) fn arguments(program: &OsStr, args: &[OsString]) -> io::Result<Vec<CString>> {
    [program].into_iter().chain(args.iter().map(AsRef::as_ref)).map(text).collect()
}

/// `NAME=value`, a later name replacing an earlier one.
pub(super) fn environment(env: &[(OsString, OsString)]) -> io::Result<Vec<CString>> {
    let last = |at: usize, name: &OsString| !env[at + 1..].iter().any(|(later, _)| later == name);
    let kept = env.iter().enumerate().filter(|(at, (name, _))| last(*at, name));
    kept.map(|(_, (name, value))| Ok(CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())?))
        .collect()
}

/// `/bin/sh file args…`: how execvp(3) runs a script that does not name its interpreter.
pub(super) fn by_shell(file: &CStr, arguments: &[CString]) -> Vec<CString> {
    let shell = [c"/bin/sh", file].into_iter().map(ToOwned::to_owned);
    shell.chain(arguments.iter().skip(1).cloned()).collect()
}

fn text(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }
    fn shown(strings: Vec<CString>) -> Vec<String> {
        strings.into_iter().map(|text| text.into_string().unwrap()).collect()
    }

    #[test]
    fn a_bare_name_is_looked_for_in_every_folder_of_path() {
        let env = pairs(&[("PATH", "/a::/b")]);
        assert_eq!(shown(candidates("sh".as_ref(), &env).unwrap()), ["/a/sh", "./sh", "/b/sh"]);
        assert_eq!(shown(candidates("sh".as_ref(), &[]).unwrap()), ["/bin/sh", "/usr/bin/sh"]);
        assert_eq!(shown(candidates("x/sh".as_ref(), &env).unwrap()), ["x/sh"]);
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        let env = pairs(&[("A", "1"), ("B", "2"), ("A", "3")]);
        assert_eq!(shown(environment(&env).unwrap()), ["B=2", "A=3"]);
    }

    #[test]
    fn a_script_without_an_interpreter_keeps_its_arguments() {
        let arguments = arguments("run".as_ref(), &["-x".into()]).unwrap();
        assert_eq!(shown(by_shell(c"/a/run", &arguments)), ["/bin/sh", "/a/run", "-x"]);
    }
}
