//! On a processor without the features that the binary was built for, it prints one line and exits.

use crate::common::skipped;
use std::process::Command;

#[test]
fn an_older_processor_is_refused_with_one_line() {
    if !cfg!(target_feature = "avx") {
        skipped("this build also runs on the older processor that the test emulates");
        return;
    }
    let run = |processor: &str| {
        Command::new("qemu-x86_64").args(["-cpu", processor, env!("CARGO_BIN_EXE_kiln"), "--version"]).output()
    };
    let Ok(output) = run("Nehalem") else {
        skipped("qemu-x86_64 is not installed");
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty());
    let message = String::from_utf8(output.stderr).unwrap();
    let message: Vec<&str> = message.lines().filter(|line| line.starts_with("kiln: ")).collect();
    assert!(message.len() == 1 && message[0].contains(" avx"), "{message:?}");
}
