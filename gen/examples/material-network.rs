//! Writes the material network as an asset: `material-network FILE`. A file that exists is not replaced: it may be the
//! network that the engine embeds.

use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: material-network FILE");
        return ExitCode::FAILURE;
    };
    let bytes = kiln_gen::network::material().to_bytes();
    match File::create_new(&path).and_then(|mut file| file.write_all(&bytes)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
