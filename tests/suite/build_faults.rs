//! Faults of the build: the build script, run as by Cargo, either works or reports in one sentence what is wrong.

use crate::common::bad_networks::bad_networks;
use crate::common::{default_network, scratch};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

/// Returns this build's compiled build script, the newest of those beside the output folder.
fn script() -> PathBuf {
    let builds = Path::new(env!("OUT_DIR")).ancestors().nth(2).unwrap();
    let name = format!("build-script-build{}", std::env::consts::EXE_SUFFIX);
    let scripts = fs::read_dir(builds).unwrap().filter_map(|entry| {
        let folder = entry.unwrap().path();
        let is_kiln = folder.file_name().unwrap().to_string_lossy().rsplit_once('-').is_some_and(|(n, _)| n == "kiln");
        let script = folder.join(&name);
        let built = fs::metadata(&script).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        (is_kiln && script.exists()).then_some((built, script))
    });
    scripts.max().expect("this package has a build script").1
}

/// Creates a source tree that holds only the default network, and an empty output folder beside it.
fn source_tree(folder: &Path) -> (PathBuf, PathBuf) {
    let (source, out) = (folder.join("source"), folder.join("out"));
    fs::create_dir_all(source.join("assets")).unwrap();
    fs::create_dir(&out).unwrap();
    fs::copy(default_network(), source.join("assets/kiln.nnue.zst")).unwrap();
    (source, out)
}

/// Returns the command that runs the script as Cargo would.
fn command(out: &Path) -> Command {
    let mut command = Command::new(script());
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("EVALFILE");
    command.env("CARGO_CFG_TARGET_ENDIAN", "little").env("OUT_DIR", out);
    command.env("CARGO_CFG_TARGET_ARCH", std::env::consts::ARCH);
    let has = [("avx2", cfg!(target_feature = "avx2")), ("avx512bw", cfg!(target_feature = "avx512bw"))];
    let features = has.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect::<Vec<_>>();
    command.env("CARGO_CFG_TARGET_FEATURE", features.join(","));
    command
}

/// Returns the directives that the script printed for Cargo. An error directive ends the build.
fn directives(output: &Output) -> Vec<String> {
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output.stderr.is_empty(), "the script failed: {output:?}");
    printed.lines().filter_map(|line| line.strip_prefix("cargo::")).map(String::from).collect()
}

fn refusal(command: &mut Command) -> String {
    let directives = directives(&command.output().unwrap());
    let errors: Vec<&str> = directives.iter().filter_map(|line| line.strip_prefix("error=")).collect();
    let [error] = errors[..] else { panic!("one error is expected: {directives:?}") };
    error.into()
}

fn succeed(command: &mut Command) -> Vec<String> {
    let directives = directives(&command.output().unwrap());
    assert!(!directives.iter().any(|line| line.starts_with("error=")), "{directives:?}");
    directives
}

/// Returns all files in a folder and its subfolders with their contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

/// Returns the files of an output folder by name, because the folders differ.
fn blobs(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    contents(out).into_iter().map(|(path, bytes)| (name(path), bytes)).collect()
}

#[test]
fn networks_that_cannot_be_embedded() {
    let folder = scratch("networks");
    let file = folder.join("a network.zst");
    let refused = |path: &Path, reason: &str| {
        let error = refusal(command(&folder).env("EVALFILE", path));
        let expected = format!("cannot embed the network {}: {reason}", path.display());
        assert!(error.starts_with(&expected), "expected {expected:?}, found {error:?}");
        assert!(!folder.join("network.bin").exists());
    };
    refused(&folder.join("missing"), "it cannot be read: ");
    // Even root cannot read a path inside a file.
    fs::copy(default_network(), &file).unwrap();
    refused(&file.join("inside"), "it cannot be read: ");
    fs::File::create(folder.join("endless")).unwrap().set_len((1 << 29) + 1).unwrap();
    refused(&folder.join("endless"), "it has 536870913 bytes, expected at most 536870912");
    refused(&folder, "it is not a regular file");
    for (bytes, reason) in bad_networks() {
        fs::write(&file, bytes).unwrap();
        refused(&file, reason);
    }
    let relative = refusal(command(&folder).env("EVALFILE", "no such folder/network.zst"));
    assert!(relative.contains(env!("CARGO_MANIFEST_DIR")), "{relative:?} does not name the absolute path");
}

/// A flipped bit is refused, or has no meaning and changes nothing.
#[test]
fn bits_flipped_in_a_network() {
    let folder = scratch("flips");
    let good = fs::read(default_network()).unwrap();
    succeed(&mut command(&folder));
    let embedded = || {
        ["network_features.bin", "network_pairs.bin", "network_head.bin", "network_dimensions.rs"]
            .map(|name| fs::read(folder.join(name)).unwrap())
    };
    let expected = embedded();
    let file = folder.join("flipped.zst");
    let mut refused = 0;
    for bit in (0..8 * good.len()).step_by(8 * good.len() / 60) {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, &bytes).unwrap();
        let directives = directives(&command(&folder).env("EVALFILE", &file).output().unwrap());
        if directives.iter().any(|line| line.starts_with("error=cannot embed the network")) {
            refused += 1;
        } else {
            assert!(embedded() == expected, "bit {bit} changes what is embedded");
        }
    }
    assert!(refused > 50, "only {refused} flips were refused");
}

#[test]
fn environments_unlike_cargos() {
    let folder = scratch("environments");
    let error = refusal(command(&folder).env_remove("OUT_DIR"));
    assert_eq!(error, "OUT_DIR is not set: only Cargo can run this program");
    let error = refusal(command(&folder).env_remove("CARGO_CFG_TARGET_ENDIAN"));
    assert_eq!(error, "CARGO_CFG_TARGET_ENDIAN is not set: only Cargo can run this program");
    let error = refusal(command(&folder).env("CARGO_CFG_TARGET_ENDIAN", "big"));
    assert_eq!(error, "Kiln reads little-endian tables in place and cannot be built for a big-endian target");
    let nowhere = folder.join("missing");
    let error = refusal(&mut command(&nowhere));
    assert!(error.starts_with(&format!("cannot write {}", nowhere.join("sliders.bin").display())), "{error}");
    assert!(contents(&folder).is_empty());
}

/// Paths may contain spaces, and only the output folder is written, so the source tree may be read-only.
#[test]
fn only_the_output_folder_is_written() {
    let folder = scratch("a read-only tree");
    let (source, out) = source_tree(&folder);
    let before = contents(&source);
    let directives = succeed(command(&out).current_dir(&source));
    assert!(directives.contains(&"rerun-if-changed=assets/kiln.nnue.zst".into()), "{directives:?}");
    assert_eq!(contents(&source), before);

    let chosen = folder.join("another network.zst");
    fs::copy(source.join("assets/kiln.nnue.zst"), &chosen).unwrap();
    let by_default = blobs(&out);
    let directives = succeed(command(&out).current_dir(&source).env("EVALFILE", &chosen));
    assert!(directives.contains(&format!("rerun-if-changed={}", chosen.display())), "{directives:?}");
    assert_eq!(blobs(&out), by_default);
}

/// Correct magics from a file are used; wrong ones are ignored with a warning.
#[test]
fn magics_from_a_file() {
    let folder = scratch("magics");
    let (source, out) = source_tree(&folder);
    let warnings = |directives: &[String]| -> Vec<String> {
        directives.iter().filter_map(|line| line.strip_prefix("warning=")).map(String::from).collect()
    };
    let sliders = |out: &Path| fs::read(out.join("sliders.bin")).unwrap();
    let directives = succeed(command(&out).current_dir(&source));
    assert!(directives.contains(&"rerun-if-changed=assets".into()) && warnings(&directives).is_empty());
    let without_file = sliders(&out);

    let file = source.join("assets/magics.txt");
    let other = kiln_gen::magic::to_text(&kiln_gen::magic::search(99).sliders);
    fs::write(&file, &other).unwrap();
    let directives = succeed(command(&out).current_dir(&source));
    assert!(warnings(&directives).is_empty() && sliders(&out) != without_file, "{directives:?}");

    for (text, reason) in [
        ("".into(), "there is no magic for a rook on square 0"),
        (other.replacen("rook 63", "rook 62", 1), "each slider and square once"),
        (other.replacen(" 52 0\n", " 52 1\n", 1), "the magic table is wrong for a rook on square 1 "),
        (other[..other.len() - 9].into(), "line 129 is "),
    ] {
        fs::write(&file, text).unwrap();
        let directives = succeed(command(&out).current_dir(&source));
        let [warning] = &warnings(&directives)[..] else { panic!("one warning is expected: {directives:?}") };
        let start = "assets/magics.txt is not used, magics are searched instead: ";
        assert!(warning.starts_with(start) && warning.contains(reason), "{warning}");
        assert_eq!(sliders(&out), without_file);
    }
    fs::write(&file, [0xff, 0xfe]).unwrap();
    assert_eq!(warnings(&succeed(command(&out).current_dir(&source))).len(), 1);
}

/// What an earlier build wrote and this one does not is gone: a blob that has been renamed cannot be embedded by its
/// old name.
#[test]
fn files_of_earlier_builds_are_removed() {
    let folder = scratch("earlier");
    for stale in ["renamed.bin", "sliders.len", "network_old.rs"] {
        fs::write(folder.join(stale), "8").unwrap();
    }
    succeed(&mut command(&folder));
    let after = contents(&folder);
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let names: Vec<String> = after.keys().map(name).collect();
    assert!(!names.iter().any(|name| ["renamed.bin", "sliders.len", "network_old.rs"].contains(&&**name)), "{names:?}");
    for kept in ["sliders.bin", "slider_attacks.len", "network_dimensions.rs", "manifest.bin", "manifest.len"] {
        assert!(names.iter().any(|name| name == kept), "{names:?}");
    }
    succeed(&mut command(&folder));
    assert_eq!(contents(&folder), after);
}

/// Builds share only their output folders, to which all write the same bytes.
#[test]
fn builds_at_once() {
    let folder = scratch("at once");
    let outs = ["a", "b", "b"].map(|name| folder.join(name));
    outs.iter().for_each(|out| fs::create_dir_all(out).unwrap());
    let started = outs.each_ref().map(|out| command(out).stdout(std::process::Stdio::piped()).spawn().unwrap());
    for process in started {
        let directives = directives(&process.wait_with_output().unwrap());
        assert!(!directives.iter().any(|line| line.starts_with("error=")), "{directives:?}");
    }
    let written = blobs(&outs[0]);
    assert!(written.len() >= 10, "{:?}", written.keys());
    assert_eq!(written, blobs(&outs[1]));
    // The build of this test wrote the same, and nothing that an earlier one wrote is left.
    if std::env::var_os("EVALFILE").is_none() {
        assert!(written == blobs(Path::new(env!("OUT_DIR"))));
    }
}
