//! Compares build times of the same slider tables as constants, source text and blobs: `cargo bench --bench build_time
//! [-- RUNS]`.
//!
//! Builds crates that hold the same attack table of rooks and bishops and print its checksum. The magic factors for
//! constant evaluation and the numbers of the text written in advance come from the generator, so that all tables are
//! equal.
//!
//! Then it builds the engine, once as it is and once with this table as a constant, from nothing and after an edit.

use kiln_gen::geometry::{BISHOP, ROOK, Step};
use kiln_gen::layout::Magic;
use kiln_gen::magic;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// The common part of all programs. The checksum depends on every entry and its index.
const CHECKSUM: &str = "
fn main() {
    let sum = attacks().iter().fold(0u64, |sum, entry| sum.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ entry);
    println!(\"{} entries, checksum {sum:016x}\", attacks().len());
}
";

/// The table by constant evaluation, preceded by `STEPS`, `MAGICS` and `ENTRIES`.
const CONST_EVALUATION: &str = "
static ATTACKS: [u64; ENTRIES] = table();

fn attacks() -> &'static [u64] {
    &ATTACKS
}

const fn table() -> [u64; ENTRIES] {
    let mut table = [0; ENTRIES];
    let mut slider = 0;
    while slider < 2 {
        let mut square = 0;
        while square < 64 {
            let (mask, factor, offset, shift) = MAGICS[slider][square];
            let mut occupied = 0u64;
            loop {
                table[offset + (occupied.wrapping_mul(factor) >> shift) as usize] = walk(slider, square, occupied);
                occupied = occupied.wrapping_sub(mask) & mask;
                if occupied == 0 {
                    break;
                }
            }
            square += 1;
        }
        slider += 1;
    }
    table
}

const fn walk(slider: usize, square: usize, occupied: u64) -> u64 {
    let mut attacks = 0;
    let mut direction = 0;
    while direction < 4 {
        let (files, ranks) = STEPS[slider][direction];
        let (mut file, mut rank) = ((square % 8) as i8 + files, (square / 8) as i8 + ranks);
        while 0 <= file && file < 8 && 0 <= rank && rank < 8 {
            let target = 1 << (rank * 8 + file);
            attacks |= target;
            if occupied & target != 0 {
                break;
            }
            file += files;
            rank += ranks;
        }
        direction += 1;
    }
    attacks
}
";

/// The table as source text in the file `TEXT`.
const SOURCE_TEXT: &str = "
static ATTACKS: [u64; ENTRIES] = include!(TEXT);

fn attacks() -> &'static [u64] {
    &ATTACKS
}
";

const BLOBS: &str = "
static ATTACKS: &[u64] = kiln_gen::embed_list!(\"attacks\");

fn attacks() -> &'static [u64] {
    ATTACKS
}
";

const BUILD_SCRIPT: &str = "
fn main() -> std::io::Result<()> {
    println!(\"cargo::rerun-if-changed=build.rs\");
    let out = std::path::PathBuf::from(std::env::var_os(\"OUT_DIR\").expect(\"Cargo sets OUT_DIR\"));
    kiln_gen::blob::write_list(out.join(\"attacks.bin\"), &kiln_gen::magic::search(SEED).attacks)
}
";

/// The table as source text printed by a build script, as in engines without blobs.
const PRINTING_SCRIPT: &str = "
fn main() -> std::io::Result<()> {
    println!(\"cargo::rerun-if-changed=build.rs\");
    let out = std::path::PathBuf::from(std::env::var_os(\"OUT_DIR\").expect(\"Cargo sets OUT_DIR\"));
    let table = kiln_gen::magic::search(SEED).attacks;
    let numbers: Vec<String> = table.iter().map(|entry| format!(\"{entry:#x}\")).collect();
    std::fs::write(out.join(\"table.rs\"), format!(\"[{}]\", numbers.join(\",\\n\")))
}
";

/// That of the engine.
const SEED: u64 = 1;
/// Folder and title. The others are compared with the last.
const WAYS: [(&str, &str); 4] = [
    ("constants", "constant evaluation"),
    ("text", "source text, written in advance"),
    ("printed", "source text by a build script"),
    ("blobs", "blobs by a build script"),
];

fn main() -> ExitCode {
    // Cargo adds `--bench`. Without it this is a test run of all targets, which this would delay too much.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).filter(|&word| word != "--bench").collect();
    if words.len() == arguments.len() {
        println!("run by \"cargo bench --bench build_time\"");
        return ExitCode::SUCCESS;
    }
    let runs = match words[..] {
        [] => Some(3),
        [number] => number.parse().ok().filter(|&runs: &usize| runs > 0),
        _ => None,
    };
    let Some(runs) = runs else {
        eprintln!("build_time: bad arguments {words:?}: expected nothing or the number of runs, a whole number from 1");
        return ExitCode::FAILURE;
    };
    match compare(runs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("build_time: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(runs: usize) -> Result<(), String> {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build_time");
    write_crates(&root).map_err(|error| format!("cannot write the crates to {}: {error}", root.display()))?;
    let mut results = Vec::new();
    for release in [false, true] {
        for (name, _) in WAYS {
            eprintln!("{name}, {} ...", profile(release));
            results.push(measure(&root.join(name), release, runs)?);
        }
    }
    if let Some(other) = results.iter().find(|result| result.printed != results[0].printed) {
        return Err(format!("the tables differ: {:?} and {:?}", results[0].printed, other.printed));
    }
    report(&results, runs);
    compare_engines(&root)
}

fn profile(release: bool) -> &'static str {
    if release { "release" } else { "dev" }
}

/// Returns the source of the table by constant evaluation.
fn constants() -> String {
    let tables = magic::search(SEED);
    let tuples = |magics: &[Magic; 64]| magics.map(|m| (m.mask, m.factor, m.offset, m.shift));
    let magics = [&tables.sliders.rook, &tables.sliders.bishop].map(tuples);
    let steps: [[Step; 4]; 2] = [ROOK, BISHOP];
    format!(
        "#![allow(long_running_const_eval)]\nconst ENTRIES: usize = {};\n\
         const STEPS: [[(i8, i8); 4]; 2] = {steps:?};\n\
         const MAGICS: [[(u64, u64, usize, u32); 64]; 2] = {magics:?};\n{CONST_EVALUATION}",
        tables.attacks.len()
    )
}

fn write_crates(root: &Path) -> std::io::Result<()> {
    let tables = magic::search(SEED);
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("gen");
    let entries = format!("const ENTRIES: usize = {};\n", tables.attacks.len());
    let text = |place| format!("{entries}{}{CHECKSUM}", SOURCE_TEXT.replace("TEXT", place));
    let numbers: Vec<String> = tables.attacks.iter().map(|entry| format!("{entry:#x}")).collect();
    let seeded = |script: &str| script.replace("SEED", &SEED.to_string());

    let files = [
        ("constants", "main.rs", constants() + CHECKSUM),
        ("text", "main.rs", text("\"table.rs\"")),
        ("text", "table.rs", format!("[{}]", numbers.join(",\n"))),
        ("printed", "main.rs", text("concat!(env!(\"OUT_DIR\"), \"/table.rs\")")),
        ("printed", "build.rs", seeded(PRINTING_SCRIPT)),
        ("blobs", "main.rs", format!("{BLOBS}{CHECKSUM}")),
        ("blobs", "build.rs", seeded(BUILD_SCRIPT)),
    ];
    let writer = format!("[build-dependencies.kiln-gen]\npath = {generator:?}\n");
    let reader = format!("[dependencies.kiln-gen]\npath = {generator:?}\ndefault-features = false\n");
    for (name, _) in WAYS {
        fs::create_dir_all(root.join(name))?;
        let dependencies = match name {
            "blobs" => writer.clone() + &reader,
            "printed" => writer.clone(),
            _ => String::new(),
        };
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[[bin]]\nname = \"{name}\"\n\
             path = \"main.rs\"\n[workspace]\n{dependencies}"
        );
        fs::write(root.join(name).join("Cargo.toml"), manifest)?;
        // The versions that are already downloaded; Cargo removes unused ones.
        fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock"), root.join(name).join("Cargo.lock"))?;
    }
    files.into_iter().try_for_each(|(name, file, contents)| fs::write(root.join(name).join(file), contents))
}

/// The results of one crate in one profile.
struct Costs {
    cold: Build,
    touched: Build,
    binary: u64,
    printed: String,
}

/// Times and memory, medians over the runs.
#[derive(Clone, Copy)]
struct Build {
    seconds: f64,
    /// Time of all processors together, also of Cargo's children.
    processor_seconds: f64,
    /// Resident memory of the largest process, including Cargo's children, in bytes.
    peak: u64,
}

fn measure(folder: &Path, release: bool, runs: usize) -> Result<Costs, String> {
    let target = folder.join("target");
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let (mut cold, mut touched) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        remove(&target)?;
        cold.push(build(folder, &target, release)?);
        let main = folder.join("main.rs");
        let source = fs::read(&main).and_then(|source| fs::write(&main, source));
        source.map_err(|error| failed(&main, error))?;
        touched.push(build(folder, &target, release)?);
    }
    let binary: PathBuf = [&target, Path::new(if release { "release" } else { "debug" })].iter().collect();
    let binary = binary.join(format!("{}{}", folder.file_name().unwrap().display(), std::env::consts::EXE_SUFFIX));
    let size = fs::metadata(&binary).map_err(|error| failed(&binary, error))?.len();
    let output = Command::new(&binary).output().map_err(|error| failed(&binary, error))?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_string();
    if !output.status.success() || printed.is_empty() {
        return Err(format!("{} failed: {output:?}", binary.display()));
    }
    Ok(Costs { cold: median(cold), touched: median(touched), binary: size, printed })
}

/// Removes a folder that may be missing.
fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", folder.display())),
        _ => Ok(()),
    }
}

fn median(mut builds: Vec<Build>) -> Build {
    let middle = builds.len() / 2;
    builds.sort_by_key(|build| build.peak);
    let peak = builds[middle].peak;
    builds.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Build { peak, ..builds[middle] }
}

fn build(folder: &Path, target: &Path, release: bool) -> Result<Build, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline"]).args(release.then_some("--release"));
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", target).stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = cargo.spawn().map_err(|error| format!("Cargo does not start: {error}"))?;
    let errors = child.stderr.take().map(std::io::read_to_string);
    let used = child.wait4().map_err(|error| format!("cannot wait for Cargo: {error}"))?;
    let seconds = start.elapsed().as_secs_f64();
    if !used.status.success() {
        let errors = errors.and_then(Result::ok).unwrap_or_default();
        return Err(format!("{} does not build:\n{errors}", folder.display()));
    }
    let processor_seconds = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    Ok(Build { seconds, processor_seconds, peak: used.rusage.maxrss })
}

/// Builds the engine with its slider attacks as a blob and as a constant, and prints the times.
fn compare_engines(root: &Path) -> Result<(), String> {
    println!("\n| slider attacks of the engine | profile | cold, s | processor, s | after an edit, s | processor, s |");
    println!("|---|---|---|---|---|---|");
    for release in [false, true] {
        let mut signatures = Vec::new();
        for (name, title) in [("engine-constants", "constant evaluation"), ("engine", "blob by the build script")] {
            eprintln!("{name}, {} ...", profile(release));
            let folder = root.join(name);
            let failed = |error: std::io::Error| format!("cannot write the engine to {}: {error}", folder.display());
            copy_engine(&folder, name == "engine-constants").map_err(failed)?;
            let target = folder.join("target");
            remove(&target)?;
            let cold = build(&folder, &target, release)?;
            edit(&folder.join("src/search/alphabeta.rs")).map_err(failed)?;
            let edited = build(&folder, &target, release)?;
            println!(
                "| {title} | {} | {:.1} | {:.1} | {:.1} | {:.1} |",
                profile(release),
                cold.seconds,
                cold.processor_seconds,
                edited.seconds,
                edited.processor_seconds
            );
            let binary = target.join(if release { "release" } else { "debug" }).join("kiln");
            let output = Command::new(&binary).args(["bench", "4"]).output().map_err(failed)?;
            let text = String::from_utf8_lossy(&output.stdout);
            signatures.push(text.lines().last().and_then(|line| line.split(' ').next()).map(str::to_string));
        }
        if signatures[0] != signatures[1] || signatures[0].is_none() {
            return Err(format!("the engines differ: bench 4 gives {signatures:?}"));
        }
    }
    println!("\nThe edit is a new function in the search. Both engines have the same bench signature.");
    Ok(())
}

/// Copies what builds the engine, with the attack table as a constant if `as_constant`.
fn copy_engine(folder: &Path, as_constant: bool) -> std::io::Result<()> {
    remove(&folder.join("src")).map_err(std::io::Error::other)?;
    fs::create_dir_all(folder)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let parts = [".cargo", "Cargo.lock", "Cargo.toml", "LICENSE-MIT", "assets", "benches", "build.rs", "gen", "src"];
    for part in parts.into_iter().chain(["trainer", "universal", "web/src", "web/Cargo.toml"]) {
        copy(&root.join(part), &folder.join(part))?;
    }
    if !as_constant {
        return Ok(());
    }
    let path = folder.join("src/tables/mod.rs");
    let source = fs::read_to_string(&path)?;
    let embedded = "static SLIDER_ATTACKS: &[u64] = embed_list!(\"slider_attacks\");";
    assert!(source.contains(embedded), "{} has changed: this benchmark must be, too", path.display());
    let constant = source.replace(embedded, "static SLIDER_ATTACKS: &[u64] = &constants::ATTACKS;\nmod constants;");
    fs::write(&path, constant)?;
    fs::write(folder.join("src/tables/constants.rs"), constants().replace("static ATTACKS", "pub static ATTACKS"))
}

/// Copies a file or a folder.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    fs::read_dir(from)?.try_for_each(|entry| {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))
    })
}

/// Adds a function, and a use of it that the compiler must keep.
fn edit(file: &Path) -> std::io::Result<()> {
    let mut source = fs::read_to_string(file)?;
    source += "
fn noisy_targets(moves: &[crate::types::Move]) -> usize {
    moves.iter().filter(|mv| mv.is_noisy()).map(|mv| mv.to().index()).sum()
}

#[used]
static USE: fn(&[crate::types::Move]) -> usize = noisy_targets;
";
    fs::write(file, source)
}

fn report(results: &[Costs], runs: usize) {
    println!(
        "{}, the same from all programs. Medians of {runs}; in parentheses the ratio to the blobs.\n",
        results[0].printed
    );
    println!("| table as | profile | cold, s | touched, s | peak memory cold, MB | touched, MB | binary, kB |");
    println!("|---|---|---|---|---|---|---|");
    for (i, costs) in results.iter().enumerate() {
        let blobs = &results[i / WAYS.len() * WAYS.len() + WAYS.len() - 1];
        let numbers = |costs: &Costs| {
            let memory = |build: Build| build.peak as f64 / 1e6;
            let Costs { cold, touched, binary, .. } = *costs;
            [cold.seconds, touched.seconds, memory(cold), memory(touched), binary as f64 / 1e3]
        };
        print!("| {} | {} ", WAYS[i % WAYS.len()].1, profile(i >= WAYS.len()));
        for (number, least) in numbers(costs).into_iter().zip(numbers(blobs)) {
            let decimals = if number < 100.0 { 2 } else { 0 };
            print!("| {number:.decimals$} ({:.2}) ", number / least);
        }
        println!("|");
    }
    println!(
        "\nCold: nothing is built yet. With a build script this includes compiling kiln-gen and its dependencies, and \
         compiling and running the script unoptimised, Cargo's default; for the blobs also compiling kiln-gen again for \
         the types. The text written in advance counts as free.\n\
         Touched: only main.rs has changed. Peak memory: the largest process of the build, which is rustc."
    );
}
