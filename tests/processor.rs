//! A processor that lacks what the binary was built for is told so.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;

#[test]
fn an_older_processor_is_refused_with_one_line() {
    if !cfg!(target_feature = "avx") {
        eprintln!("skipped: this build runs on the older processor that is emulated here");
        return;
    }
    let run = |processor: &str| {
        Command::new("qemu-x86_64").args(["-cpu", processor, env!("CARGO_BIN_EXE_kiln"), "--version"]).output()
    };
    let Ok(output) = run("Nehalem") else {
        eprintln!("skipped: there is no qemu-x86_64, an emulator of processors, here");
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty());
    let complaint = String::from_utf8(output.stderr).unwrap();
    let complaint: Vec<&str> = complaint.lines().filter(|line| line.starts_with("kiln: ")).collect();
    assert!(complaint.len() == 1 && complaint[0].contains(" avx"), "{complaint:?}");
}
