//! kiln-gen in another crate: `examples/embed` is built as a user would build it, with a target folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/embed")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs Cargo in a folder with another target folder.
fn cargo(folder: &Path, target: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--offline"]).current_dir(folder).env("CARGO_TARGET_DIR", target);
    command.output().expect("Cargo runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn succeed(output: Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Returns the output folder of the example's build script.
fn out_dir(target: &Path) -> PathBuf {
    let builds = fs::read_dir(target.join("debug/build")).unwrap();
    let outs: Vec<PathBuf> = builds.map(|entry| entry.unwrap().path().join("out")).collect();
    let [out] = &outs.into_iter().filter(|out| out.join("sliders.bin").exists()).collect::<Vec<_>>()[..] else {
        panic!("one output folder is expected in {}", target.display())
    };
    out.clone()
}

/// The example works, and does not compile if a blob's size is changed after the build script.
#[test]
fn tables_in_another_crate() {
    let target = scratch("embed");
    // An earlier run may have left damaged blobs, or files of another version of the build script.
    let _ = fs::remove_dir_all(&target);
    let drawn = succeed(cargo(&example(), &target, &["run", "--locked", "--quiet"]));
    let rook = "rook e4, blockers e6 g4\n\
        . . . . . . . .\n. . . . . . . .\n. . . . X . . .\n. . . . X . . .\n\
        X X X X . X X .\n. . . . X . . .\n. . . . X . . .\n. . . . X . . .\n";
    assert!(drawn.starts_with(rook), "{drawn}");
    let between = ". . . . . . . .\n. . . . . . . .\n. . . . . . X .\n. . . . . X . .\n";
    assert!(drawn.contains(&format!("between e4 and h7\n{between}")), "{drawn}");

    let out = out_dir(&target);
    for (name, change) in [("sliders", -1), ("sliders", 1), ("slider_attacks", -8), ("slider_attacks", 8)] {
        let file = out.join(format!("{name}.bin"));
        let good = fs::read(&file).unwrap();
        let mut bytes = good.clone();
        bytes.resize(good.len().checked_add_signed(change).unwrap(), 0);
        fs::write(&file, &bytes).unwrap();
        let refused = cargo(&example(), &target, &["build", "--locked"]);
        fs::write(&file, &good).unwrap();
        let expected = format!("the blob \"{name}\" has another size than its type");
        assert!(!refused.status.success(), "{name} with {} bytes was accepted", bytes.len());
        assert!(text(&refused.stderr).contains(&expected), "{}", text(&refused.stderr));
    }
    assert_eq!(succeed(cargo(&example(), &target, &["run", "--locked", "--quiet"])), drawn);
}

#[test]
fn tables_need_neither_compression_nor_hashes_nor_a_serialiser() {
    let tree = |edges| {
        let arguments = ["tree", "--locked", "--edges", edges, "--prefix", "none"];
        let listed = succeed(cargo(&example(), &scratch("embed-tree"), &arguments));
        let mut names: Vec<String> =
            listed.lines().filter_map(|line| line.split(' ').next()).map(String::from).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(tree("normal,build"), ["embed", "include_bytes_aligned", "kiln-gen", "rand_core", "rand_xoshiro"]);
    assert_eq!(tree("normal"), ["embed", "include_bytes_aligned", "kiln-gen"], "the reader needs nothing else");
}

/// If the types linked the standard library, its panic handler would clash with the one of this crate.
#[test]
fn the_types_need_no_standard_library() {
    let folder = scratch("no-std");
    fs::create_dir_all(&folder).unwrap();
    let manifest = format!(
        "[package]\nname = \"no-std\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\ncrate-type = [\"staticlib\"]\n\
         [dependencies]\nkiln-gen = {{ path = {:?}, default-features = false }}\n\
         [profile.dev]\npanic = \"abort\"\n[workspace]\n",
        Path::new(env!("CARGO_MANIFEST_DIR")).join("gen")
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let library = "#![no_std]\npub fn knight(leapers: &kiln_gen::layout::Leapers) -> u64 { leapers.knight[0] }\n\
        #[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n";
    fs::write(folder.join("lib.rs"), library).unwrap();
    succeed(cargo(&folder, &folder.join("target"), &["build"]));
    fs::write(folder.join("lib.rs"), format!("{library}extern crate std;\n")).unwrap();
    let clash = cargo(&folder, &folder.join("target"), &["build"]);
    assert!(text(&clash.stderr).contains("panic_impl"), "the test detects nothing: {}", text(&clash.stderr));
}

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../gen/README.md");
    for file in ["build.rs", "src/main.rs", "Cargo.toml"] {
        let source = fs::read_to_string(example().join(file)).unwrap();
        let shown = match file {
            "build.rs" => &source[..],
            "src/main.rs" => {
                let start = source.find("kiln_gen::attacks!").unwrap();
                &source[start..source.find("fn draw").unwrap()]
            }
            _ => &source[source.find("[dependencies]").unwrap()..],
        };
        assert!(readme.contains(shown.trim()), "gen/README.md does not show this of {file}:\n{shown}");
    }
}
