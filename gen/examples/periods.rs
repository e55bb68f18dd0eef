//! Finds a factor for a narrow window or proves that there is none: `periods rook|bishop SQUARE BITS [FIRST [END]]`.

use kiln_gen::geometry::{BISHOP, ROOK};
use kiln_gen::magic::periods;
use std::env::args;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str = "\
Finds a factor for a window of BITS index bits, or proves that there is none.

  periods rook|bishop SQUARE BITS [FIRST [END]]

FIRST and END restrict the work to a part: the values from FIRST until END of
the factor's lowest bits on which the highest relevant square depends.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = args().skip(1).collect();
    match run(&arguments) {
        Some(()) => ExitCode::SUCCESS,
        None => {
            eprint!("{HELP}");
            ExitCode::FAILURE
        }
    }
}

/// Returns `None` if the arguments are wrong.
fn run(arguments: &[String]) -> Option<()> {
    let [slider, square, bits, part @ ..] = arguments else { return None };
    let directions = match &slider[..] {
        "rook" => &ROOK,
        "bishop" => &BISHOP,
        _ => return None,
    };
    let &[file @ b'a'..=b'h', rank @ b'1'..=b'8'] = square.as_bytes() else { return None };
    let number = usize::from(rank - b'1') * 8 + usize::from(file - b'a');
    let bits: u32 = bits.parse().ok().filter(|bits| (1..=12).contains(bits))?;
    let part = match part {
        [] => None,
        [first] => {
            let first: u64 = first.parse().ok()?;
            Some(first..first.checked_add(1)?)
        }
        [first, end] => Some(first.parse().ok()?..end.parse().ok()?),
        _ => return None,
    };
    let is_whole = part.is_none();

    let start = Instant::now();
    let mut found = None;
    let levels = periods::factors(number, directions, bits, part, |factor| {
        found = Some(factor);
        ControlFlow::Break(())
    });
    let seconds = start.elapsed().as_secs_f64();
    for level in levels {
        println!("square {:2}: {} values tried, {} kept", level.square, level.tried, level.kept);
    }
    match found {
        Some(factor) => println!("{slider} {square}: {factor:#018x} with {bits} index bits, after {seconds:.1} s"),
        None if is_whole => println!("{slider} {square}: no factor with {bits} index bits, after {seconds:.1} s"),
        None => println!("{slider} {square}: no factor in this part, after {seconds:.1} s"),
    }
    Some(())
}
