//! Whole training runs on small data: convergence, determinism, resumption after a kill, and refusals.

use kiln_gen::network::{Asset, Threats};
use kiln_trainer::batch::BatchProcessor;
use kiln_trainer::checkpoint::Progress;
use kiln_trainer::config::Config;
use kiln_trainer::data::{Dataset, Filter};
use kiln_trainer::network::{EPSILON, Network, OptimiserStep};
use kiln_trainer::pairs;
use kiln_trainer::run::Training;
use kiln_trainer::synthetic;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

const SINGLE: &str = "hidden = 32\noutput_buckets = 2";
const PAIRS: &str = "hidden = 64\nthreats = \"pairs\"";
const LAYERS: &str = "hidden = 32\nlayers = [16, 32]";
const PAIRWISE: &str = "hidden = 64\nlayers = [16, 32]\npairwise = true\noutput_buckets = 2\n\
     king_buckets = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]";

/// Writes games and the run file of a short training run to `folder`.
fn prepare(folder: &Path, network: &str, superbatches: u64, batches: u64) {
    for number in 0..3 {
        fs::write(folder.join(format!("{number}.viri.zst")), synthetic::shard(150, number).unwrap()).unwrap();
    }
    let text = format!(
        "name = \"net\"\nseed = 10\ndata = [\".\"]\noutput = \"out\"\n[network]\n{network}\n[training]\n\
         superbatches = {superbatches}\nbatches = {batches}\nbatch_size = 2048\nwarm_up = 5\n\
         rate = {{ kind = \"cosine\", start = 5e-3, end = 5e-4 }}\nwdl = {{ kind = \"constant\", value = 0.1 }}\n"
    );
    fs::write(folder.join("run.toml"), text).unwrap();
}

fn fit(folder: &Path, threads: usize, stop: impl Fn(&Progress) -> bool + Send) -> Progress {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut training = Training::open(Config::read(&folder.join("run.toml")).unwrap()).unwrap();
        training.fit(|_| (), stop).unwrap();
        training.progress().clone()
    })
}

/// Returns the best network.
fn best(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("out/net.best.nnue.zst")).unwrap()
}

fn asset(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("out/net.nnue.zst")).unwrap()
}

#[test]
fn learns_material_and_survives_quantisation() {
    for network in [SINGLE, LAYERS, PAIRWISE, PAIRS] {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path(), network, 4, 30);
        let records = fit(folder.path(), 2, |_| false).records;
        let losses: Vec<f64> = records.iter().map(|record| record.validation_loss).collect();
        // Always answering one half has a loss of about 0.09 with these targets.
        assert!(losses[3] < 0.02 && losses[3] < losses[0], "{network}: {losses:?}");
        let training = Training::open(Config::read(&folder.path().join("run.toml")).unwrap()).unwrap();
        let found = training.check_asset(1000).unwrap();
        assert!(found.is_acceptable(), "{network}: {found:?}");
        for ending in [".toml", ".json", ".svg"] {
            assert!(folder.path().join(format!("out/net{ending}")).exists(), "{ending}");
        }
        let log = fs::read_to_string(folder.path().join("out/net.json")).unwrap();
        assert_eq!(log.matches("validation_loss").count(), 4);
    }
}

#[test]
fn results_do_not_depend_on_the_threads() {
    for network in [SINGLE, LAYERS, PAIRWISE, PAIRS] {
        let [one, many] = [1, 5].map(|threads| {
            let folder = tempfile::tempdir().unwrap();
            prepare(folder.path(), network, 1, 4);
            let losses = fit(folder.path(), threads, |_| false).records[0].validation_loss;
            (asset(folder.path()), losses.to_bits())
        });
        assert!(one == many, "{network}");
    }
}

#[test]
fn a_kill_changes_nothing() {
    for network in [SINGLE, LAYERS, PAIRWISE, PAIRS] {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for folder in &folders {
            prepare(folder.path(), network, 2, 5);
        }
        let whole = fit(folders[0].path(), 2, |_| false);
        let killed = folders[1].path();
        assert_eq!(fit(killed, 2, |progress| progress.batches == 3).batches, 3);
        assert_eq!(fit(killed, 1, |progress| progress.batches == 7).batches, 7);
        let parts = fit(killed, 2, |_| false);
        let losses = |progress: &Progress| -> Vec<_> {
            progress.records.iter().map(|record| (record.training_loss, record.validation_loss)).collect()
        };
        assert_eq!(losses(&whole), losses(&parts));
        assert!(asset(folders[0].path()) == asset(killed), "{network}");
        assert!(best(folders[0].path()) == best(killed), "{network}");
    }
}

#[test]
fn a_second_stage_and_averages_survive_a_kill() {
    const SECOND: &str = "average = 2\nsparsity = 1e-3\n[[stages]]\nsuperbatches = 1\ndata = [\"second\"]\n\
         rate = { kind = \"constant\", value = 1e-4 }\nwdl = { kind = \"constant\", value = 0.5 }\n";
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for folder in &folders {
        prepare(folder.path(), LAYERS, 2, 5);
        let settings = folder.path().join("run.toml");
        fs::write(&settings, fs::read_to_string(&settings).unwrap() + SECOND).unwrap();
        fs::create_dir(folder.path().join("second")).unwrap();
        fs::write(folder.path().join("second/0.viri.zst"), synthetic::shard(400, 5).unwrap()).unwrap();
    }
    let whole = fit(folders[0].path(), 2, |_| false);
    let killed = folders[1].path();
    for batches in [3, 9, 12] {
        assert_eq!(fit(killed, 1, |progress| progress.batches == batches).batches, batches);
    }
    let parts = fit(killed, 2, |_| false);
    assert!(asset(folders[0].path()) == asset(killed));
    assert_eq!((&whole.positions, whole.averages == parts.averages), (&parts.positions, true));
    assert!(whole.positions.len() == 2 && whole.positions[0] > whole.positions[1], "{:?}", whole.positions);
    let [first, second, third] = &whole.records[..] else { panic!("{:?}", whole.records) };
    assert_eq!((second.wdl, third.wdl, third.rate), (0.1, 0.5, 1e-4));
    assert_eq!((first.average_loss, second.average_loss), (None, Some(second.validation_loss)));
    assert!(third.average_loss.is_some_and(|loss| loss != third.validation_loss));
    let training = Training::open(Config::read(&killed.join("run.toml")).unwrap()).unwrap();
    assert!(training.check_asset(1000).unwrap().is_acceptable());
    let curves = fs::read_to_string(killed.join("out/net.svg")).unwrap();
    assert!(curves.contains("averaged weights"));
}

/// Kills the program itself at several moments and resumes it.
#[test]
fn a_kill_at_any_moment_loses_no_checkpoint() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let command = |folder: &Path| {
        prepare(folder, SINGLE, 6, 3);
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiln-trainer"));
        command.arg("fit").arg(folder.join("run.toml")).args(["--threads", "1"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let start = Instant::now();
    assert!(command(folders[0].path()).status().unwrap().success());
    let took = start.elapsed();
    let mut killed = command(folders[1].path());
    for part in 1..8 {
        let mut child = killed.spawn().unwrap();
        thread::sleep(took * part / 8);
        // It may already have ended.
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(killed.status().unwrap().success());
    assert!(asset(folders[0].path()) == asset(folders[1].path()));
    assert!(best(folders[0].path()) == best(folders[1].path()));
}

#[test]
fn checkpoints_of_other_runs_or_damaged_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path(), SINGLE, 1, 2);
    fit(folder.path(), 1, |_| false);
    let open = || Training::open(Config::read(&folder.path().join("run.toml")).unwrap());
    let refusal = || format!("{:#}", open().err().expect("it is refused"));
    let file = folder.path().join("out/net.checkpoint");
    let good = fs::read(&file).unwrap();
    let mut bad = good.clone();
    let place = bad.len() / 2;
    bad[place] ^= 1;
    let mut old = good.clone();
    old[7] = b'2';
    fs::write(&file, &old).unwrap();
    assert!(refusal().contains("another version of the trainer"), "{}", refusal());
    for bytes in [&bad[..], &good[..good.len() / 2], b""] {
        fs::write(&file, bytes).unwrap();
        assert!(refusal().contains("not a complete checkpoint"), "{}", refusal());
    }
    fs::write(&file, &good).unwrap();
    open().unwrap();
    let settings = folder.path().join("run.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("seed = 10", "seed = 8")).unwrap();
    assert!(refusal().contains("other settings or data"), "{}", refusal());
    // The same shards, but one of them for validation: another training set.
    let apart = "data = [\"0.viri.zst\", \"1.viri.zst\"]\nvalidation = [\"2.viri.zst\"]";
    fs::write(&settings, text.replace("data = [\".\"]", apart)).unwrap();
    assert!(refusal().contains("other settings or data"), "{}", refusal());
    let taught = |network: &str| {
        let text = format!("{text}[teacher]\nnetwork = \"out/{network}\"\ntrust = [0.5]\n");
        fs::write(&settings, text).unwrap();
        refusal()
    };
    assert!(taught("net.nnue.zst").contains("other settings or data"), "{}", refusal());
    assert!(taught("none.zst").contains("none.zst cannot be read"), "{}", refusal());
    fs::write(&settings, &text).unwrap();
    fs::remove_file(&file).unwrap();
    fs::write(folder.path().join("3.viri.zst"), &good).unwrap();
    assert!(refusal().contains("3.viri.zst: "), "{}", refusal());
    fs::remove_file(folder.path().join("3.viri.zst")).unwrap();
    fs::write(&settings, text.replace("[\".\"]", "[\"none\"]")).unwrap();
    assert!(refusal().contains("none"), "{}", refusal());
}

#[test]
fn a_checkpoint_with_the_data_of_a_stage_moved_to_another_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path(), SINGLE, 1, 2);
    let settings = folder.path().join("run.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let split = |first: &str, second: &str| {
        let data = format!("data = [{first}]\nvalidation = [\"2.viri.zst\"]");
        let stage = "[[stages]]\nsuperbatches = 1\nrate = {kind = \"constant\", value = 1e-3}\nwdl = {kind = \
                     \"constant\", value = 0}";
        fs::write(&settings, format!("{}{stage}\ndata = [{second}]\n", text.replace("data = [\".\"]", &data))).unwrap();
    };
    split("\"0.viri.zst\", \"1.viri.zst\"", "\"2.viri.zst\"");
    fit(folder.path(), 1, |_| false);
    split("\"0.viri.zst\"", "\"1.viri.zst\", \"2.viri.zst\"");
    let error = Training::open(Config::read(&settings).unwrap()).err().expect("it is refused");
    assert!(error.to_string().contains("other settings or data"), "{error:#}");
}

#[test]
fn training_starts_from_an_asset() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path(), SINGLE, 2, 30);
    let before = fit(folder.path(), 2, |_| false).records[1].validation_loss;
    let settings = folder.path().join("run.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let text = text.replace("name = \"net\"", "name = \"next\"\nstart = \"out/net.nnue.zst\"");
    fs::write(&settings, text.replace(&format!("[network]\n{SINGLE}\n"), "").replace("5e-3", "1e-4")).unwrap();
    let after = fit(folder.path(), 2, |_| false).records[0].validation_loss;
    assert!(after < before * 1.05, "{before} {after}");
}

#[test]
fn a_network_with_states_becomes_one_with_pairs() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path(), "hidden = 64\nthreats = \"states\"\noutput_buckets = 2", 2, 30);
    fit(folder.path(), 2, |_| false);
    let positions = Dataset::read(&[folder.path().join("2.viri.zst")], &[], Filter::default()).unwrap().training;
    let scores = |asset: &Asset| {
        let network = Network::from_asset(asset, false).unwrap();
        BatchProcessor::new(&network).evaluate(&network, positions.len(), |i| positions[i])
    };
    let states = Asset::from_bytes(&asset(folder.path())).unwrap();
    let wanted = scores(&states);
    let convert = |name: &str, count, threads| {
        let (old, new) = (folder.path().join("out/net.nnue.zst"), folder.path().join(name));
        let shards = [folder.path().join("0.viri.zst"), folder.path().join("1.viri.zst")];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pairs::convert(&old, &new, &shards, count, |_| ())).unwrap();
        fs::read(new).unwrap()
    };
    let error = |bytes: &[u8]| {
        let found = scores(&Asset::from_bytes(bytes).unwrap());
        found.iter().zip(&wanted).map(|(a, b)| f64::from((a - b).powi(2))).sum::<f64>() / wanted.len() as f64
    };
    let converted = convert("new", 400_000, 2);
    assert!(convert("same", 400_000, 1) == converted, "the result does not depend on the threads");
    assert_eq!(Asset::from_bytes(&converted).unwrap().header.inputs.threats, Threats::Pairs);
    let scale = wanted.iter().map(|score| f64::from(score * score)).sum::<f64>() / wanted.len() as f64;
    let (unfitted, fitted) = (error(&convert("unfitted", 0, 2)), error(&converted));
    assert!(fitted < unfitted / 2.0 && fitted < scale / 50.0, "{unfitted} {fitted} {scale}");

    let refused = |old: &str, new: &str| {
        let [old, new] = [old, new].map(|name| folder.path().join(name));
        format!("{:#}", pairs::convert(&old, &new, &[folder.path().into()], 1, |_| ()).unwrap_err())
    };
    assert!(refused("out/net.nnue.zst", "new").contains("new exists; it is not replaced"));
    assert!(refused("new", "newer").contains("without threat states"));
    assert!(refused("none", "newer").contains("none cannot be read"));
}

#[test]
fn the_best_network_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path(), SINGLE, 6, 10);
    let settings = folder.path().join("run.toml");
    // The learning rate rises until the network unlearns; the proportion of results changes too.
    let text = fs::read_to_string(&settings).unwrap();
    let text =
        text.replace("kind = \"cosine\", start = 5e-3, end = 5e-4", "kind = \"linear\", start = 1e-4, end = 1e-1");
    let text = text.replace("kind = \"constant\", value = 0.1", "kind = \"linear\", start = 0.0, end = 0.2");
    fs::write(&settings, text).unwrap();
    let mut training = Training::open(Config::read(&settings).unwrap()).unwrap();
    let mut lines = Vec::new();
    training.fit(|line| lines.push(line.to_owned()), |_| false).unwrap();
    let records = &training.progress().records;
    let best_record = training.best().unwrap();
    assert!(records.iter().all(|record| best_record.selection_loss <= record.selection_loss));
    assert!((2..6).contains(&best_record.superbatch), "{records:?}");
    // With the last proportion of results, the selection loss is the validation loss.
    let last = records.last().unwrap();
    assert_eq!(last.validation_loss, last.selection_loss);
    assert_ne!(records[0].validation_loss, records[0].selection_loss);
    assert!(best(folder.path()) != asset(folder.path()));
    // A run that is stopped after the best superbatch has that network.
    let batches = 10 * best_record.superbatch;
    let again = tempfile::tempdir().unwrap();
    prepare(again.path(), SINGLE, 6, 10);
    fs::copy(&settings, again.path().join("run.toml")).unwrap();
    fit(again.path(), 1, |progress| progress.batches == batches);
    assert!(best(folder.path()) == asset(again.path()));
    assert!(lines.iter().any(|line| line.starts_with("superbatch 2 of 6: training loss ")), "{lines:?}");
    assert!(lines.last().unwrap().ends_with(&format!("superbatch {} is better", best_record.superbatch)), "{lines:?}");
}

#[test]
#[cfg(unix)]
fn ctrl_c_saves_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path(), SINGLE, 4000, 30);
    let child = Command::new(env!("CARGO_BIN_EXE_kiln-trainer"))
        .arg("fit")
        .arg(folder.path().join("run.toml"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !folder.path().join("out/net.checkpoint").exists() {
        assert!(start.elapsed().as_secs() < 60, "no superbatch ends");
        thread::sleep(std::time::Duration::from_millis(20));
    }
    // The program does not print off a terminal before some seconds have passed, except the lines of superbatches.
    thread::sleep(std::time::Duration::from_secs(6));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let (out, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(out.lines().any(|line| line.contains(" positions/s, ") && line.ends_with(" left")), "{out}");
    let done: u64 = error.split(' ').find_map(|word| word.parse().ok()).unwrap_or_else(|| panic!("{error}"));
    assert!(error.starts_with("kiln-trainer: stopped: ") && error.ends_with("the same command goes on\n"), "{error}");
    let training = Training::open(Config::read(&folder.path().join("run.toml")).unwrap()).unwrap();
    assert_eq!(training.progress().batches, done);
}

#[test]
fn help_is_printed() {
    let run = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_kiln-trainer")).args(words).output().unwrap();
    for words in [&["--help"][..], &["-h"], &["help"], &["fit", "--help"], &["check", "-h"]] {
        let output = run(words);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}");
        assert!(text.contains("kiln-trainer fit CONFIG.toml") && text.contains(".best.nnue.zst"), "{words:?}: {text}");
    }
    for (words, expected) in
        [(&[][..], "a command and a run file are required"), (&["hlep"], "unknown command \"hlep\"")]
    {
        let output = run(words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(expected) && text.contains("kiln-trainer help"), "{text}");
    }
}

#[test]
fn weight_decay_pulls_toward_zero_or_the_anchor() {
    for is_anchored in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path(), SINGLE, 1, 1);
        let (_, header) = Config::read(&folder.path().join("run.toml")).unwrap().start().unwrap();
        let mut network = Network::new(header, true, 1).unwrap();
        if is_anchored {
            network.anchor();
        }
        let tile = |network: &Network| network.tiles[0].head.values.to_vec();
        let before = tile(&network);
        for value in network.tiles[0].head.values.iter_mut() {
            *value += 0.5;
        }
        // Without gradients only the decay moves the values: by half of the way in each step.
        for number in 1..=20 {
            network.update(OptimiserStep { learning_rate: 0.5, number, weight_decay: 1.0, epsilon: EPSILON });
        }
        let goal = |value: f32| if is_anchored { value } else { 0.0 };
        assert!(tile(&network).iter().zip(before).all(|(now, before)| (now - goal(before)).abs() < 1e-5));
    }
}
