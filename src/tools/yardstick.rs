//! The yardstick: how far static scores, of a network or another engine, are from the results that a stronger engine
//! expects.

use super::net::reference;
use crate::board::Position;
use kiln_gen::network::Asset;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// The scales that are tried, in centipawns.
const SCALES: RangeInclusive<u16> = 20..=1000;
/// The most pieces of each row of the report.
const MOST_PIECES: [u32; 5] = [8, 14, 20, 26, 32];
/// How much worse than the best sibling a good one may be, in expected points.
const GOOD: f64 = 0.15;

/// A position with the result that the judge expects.
pub struct Judged {
    position: Position,
    /// Expected points of the side to move, from 0 to 1.
    expected: f64,
    /// Another engine's static score in centipawns, of the side to move.
    score: Option<f64>,
    /// The number of `#` lines before it. Siblings, the positions after the moves of one position, have the same.
    group: usize,
}

/// Reads judged positions. Each line is a FEN, a semicolon, and the judge's probabilities of win, draw and loss for the
/// side to move in thousandths, as engines print them after `wdl`: `FEN;W,D,L`. Another semicolon and another engine's
/// static score of the side to move in centipawns may follow. Empty lines are skipped. Positions between two lines that
/// begin with `#` are siblings: those after the moves of one position.
///
/// # Errors
/// In one sentence, if a line is malformed or there is no position.
pub fn parse(text: &str) -> Result<Vec<Judged>, String> {
    let (mut judged, mut group) = (Vec::new(), 0);
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        if line.starts_with('#') {
            group += 1;
        } else {
            judged.push(parse_line(line, group).map_err(|error| format!("line {number}: {error}"))?);
        }
    }
    if judged.is_empty() { Err("there is no position in it".into()) } else { Ok(judged) }
}

fn parse_line(line: &str, group: usize) -> Result<Judged, String> {
    let expected = || "expected FEN;W,D,L with three numbers that sum to 1000".to_string();
    let (fen, numbers) = line.split_once(';').ok_or_else(expected)?;
    let (wdl, score) = match numbers.split_once(';') {
        Some((wdl, score)) => (wdl, Some(score)),
        None => (numbers, None),
    };
    let numbers = wdl.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<u32>>>();
    let Some(&[win, draw, loss]) = numbers.as_deref() else { return Err(expected()) };
    if [win, draw, loss].iter().any(|&part| part > 1000) || win + draw + loss != 1000 {
        return Err(expected());
    }
    let score = score.map(|score| {
        let score: Option<i32> = score.trim().parse().ok();
        score.map(f64::from).ok_or("expected a whole number of centipawns after the second semicolon")
    });
    let position = fen.parse().map_err(|error| format!("{error}"))?;
    Ok(Judged { position, expected: f64::from(2 * win + draw) / 2000.0, score: score.transpose()?, group })
}

/// Returns the mean squared error of the network's scores as expected points, by the number of pieces, with the scale
/// that makes it least: one for each row. The row `these` is the mean of the rows above it. Without a network the
/// scores are those in the lines.
///
/// If there are siblings, the last line says how well the scores tell the moves of a position apart: the correlation of
/// both expectations, without their means over siblings; the same among siblings within 0.15 points of the best, whose
/// expectation is the least, since the opponent is to move.
///
/// # Errors
/// In one sentence, if there is no network and a position has no score.
pub fn report(asset: Option<&Asset>, judged: &[Judged]) -> Result<String, String> {
    let scored = |(index, judged): (usize, &Judged)| {
        let score = match asset {
            Some(asset) => Some(reference(asset, &judged.position) as f64),
            None => judged.score,
        };
        let score = score.ok_or_else(|| {
            format!("position {} has no score after a second semicolon, and no network is given", index + 1)
        })?;
        let pieces = judged.position.occupied().len();
        Ok(Scored { score, expected: judged.expected, pieces, group: judged.group })
    };
    let scored = judged.iter().enumerate().map(scored).collect::<Result<Vec<_>, String>>()?;
    Ok(table(&scored) + &siblings(&scored))
}

/// A position's score in centipawns and expected points, both of the side to move.
struct Scored {
    score: f64,
    expected: f64,
    pieces: u32,
    group: usize,
}

/// Returns the expected points at a score, with a scale, both in centipawns.
pub(super) fn points(score: f64, scale: u16) -> f64 {
    1.0 / (1.0 + (-score / f64::from(scale)).exp())
}

/// Returns the least error, and the scale in centipawns that has it.
pub(super) fn best_scale(error: impl Fn(u16) -> f64) -> (f64, u16) {
    let errors = SCALES.map(|scale| (error(scale), scale));
    errors.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are scales")
}

fn error<'a>(positions: impl IntoIterator<Item = &'a Scored>, scale: u16) -> f64 {
    let errors = positions.into_iter().map(|scored| (points(scored.score, scale) - scored.expected).powi(2));
    let (sum, count) = errors.fold((0.0, 0.0), |(sum, count), error| (sum + error, count + 1.0));
    sum / count
}

fn table(positions: &[Scored]) -> String {
    let mut text = String::from("pieces      positions   scale  squared error\n");
    let mut row = |pieces: &str, count: usize, scale: &str, error: f64| {
        writeln!(text, "{pieces:<10} {count:>10} {scale:>7} {error:>14.4}").expect("a string can be written to");
    };
    let (mut least_pieces, mut sum) = (2, 0.0);
    for most in MOST_PIECES {
        let range = least_pieces..=most;
        let within = positions.iter().filter(|scored| range.contains(&scored.pieces));
        let count = within.clone().count();
        if count > 0 {
            let (error, scale) = best_scale(|scale| error(within.clone(), scale));
            row(&format!("{least_pieces} to {most}"), count, &scale.to_string(), error);
            sum += error * count as f64;
        }
        least_pieces = most + 1;
    }
    row("these", positions.len(), "", sum / positions.len() as f64);
    let (least, scale) = best_scale(|scale| error(positions, scale));
    row("all", positions.len(), &scale.to_string(), least);
    text
}

/// Returns the line about siblings, or nothing if fewer than two groups have several.
fn siblings(positions: &[Scored]) -> String {
    let groups = positions.chunk_by(|a, b| a.group == b.group).filter(|group| group.len() > 1);
    let groups: Vec<&[Scored]> = groups.collect();
    if groups.len() < 2 {
        return String::new();
    }
    let (_, scale) = best_scale(|scale| error(positions, scale));
    let all = groups.iter().map(|group| group.iter().collect());
    let good = groups.iter().map(|group| {
        let best = group.iter().map(|scored| scored.expected).fold(f64::INFINITY, f64::min);
        group.iter().filter(|scored| scored.expected < best + GOOD).collect()
    });
    let text = |correlation: Option<f64>| correlation.map_or("unknown".into(), |value| format!("{value:.3}"));
    let (all, good) = (text(correlation(all, scale)), text(correlation(good, scale)));
    format!("moves of {} positions told apart: correlation {all}, of good moves {good}\n", groups.len())
}

/// Returns the correlation of both expectations, without their means over each group; `None` if one is constant.
fn correlation<'a>(groups: impl Iterator<Item = Vec<&'a Scored>>, scale: u16) -> Option<f64> {
    let (mut products, mut squares, mut expected_squares) = (0.0, 0.0, 0.0);
    for group in groups {
        let mean = |value: &dyn Fn(&Scored) -> f64| group.iter().map(|s| value(s)).sum::<f64>() / group.len() as f64;
        let (mean_points, mean_expected) = (mean(&|s| points(s.score, scale)), mean(&|s| s.expected));
        for scored in &group {
            let (a, b) = (points(scored.score, scale) - mean_points, scored.expected - mean_expected);
            products += a * b;
            squares += a * a;
            expected_squares += b * b;
        }
    }
    let square = squares * expected_squares;
    (square > 0.0).then(|| products / square.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_or_rejected_with_a_reason() {
        let fen = "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1";
        let judged = parse(&format!("# by a judge\n\n{fen};900,80,20\n{fen}; 0, 0, 1000\n")).unwrap();
        assert_eq!(judged.iter().map(|judged| judged.expected).collect::<Vec<_>>(), [0.94, 0.0]);
        assert!(report(None, &judged).unwrap_err().starts_with("position 1 has no score"));
        let judged = parse(&format!("{fen};900,80,20;-31\n{fen};0,0,1000\n")).unwrap();
        assert_eq!(judged.iter().map(|judged| judged.score).collect::<Vec<_>>(), [Some(-31.0), None]);
        assert!(report(None, &judged).unwrap_err().starts_with("position 2 has no score"));
        assert!(report(None, &judged[..1]).unwrap().contains("\nall "));
        for (text, expected) in [
            ("", "there is no position in it"),
            ("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", "line 1: expected FEN;W,D,L with three numbers that sum to 1000"),
            ("\n8 w - - 0 1;1,2,997", "line 2: bad piece placement"),
        ] {
            assert!(parse(text).err().unwrap().starts_with(expected), "{text}");
        }
        for wdl in [
            "500,500",
            "1,2,3",
            "1000,1000,-1000",
            "4294967295,1,1000",
            "500,250,250,0",
            "a,b,c",
            "900,80,20;",
            "900,80,20;1;2",
        ] {
            assert!(parse(&format!("{fen};{wdl}")).is_err(), "{wdl}");
        }
    }

    #[test]
    fn the_scale_of_exact_scores_is_found() {
        let scored = |score: f64, pieces| Scored { score, expected: points(score, 205), pieces, group: 0 };
        let mut positions: Vec<Scored> =
            (-20..20i32).map(|i| scored(f64::from(i) * 37.0, 2 + i.unsigned_abs())).collect();
        let text = table(&positions);
        assert!(text.contains("\n9 to 14            12     205         0.0000\n"), "{text}");
        assert!(text.ends_with("all                40     205         0.0000\n"), "{text}");
        // An error of 0.5 in one of 41 positions.
        positions.push(Scored { score: 0.0, expected: 1.0, pieces: 32, group: 0 });
        let text = table(&positions);
        assert!(text.contains("\nthese              41                 0.0061\n"), "{text}");
        assert!(text.ends_with("all                41     205         0.0061\n"), "{text}");
    }

    #[test]
    fn siblings_are_told_apart() {
        let scored = |group, score: f64, expected| Scored { score, expected: points(expected, 100), pieces: 9, group };
        // The groups' means do not count: in each the scores have the right order, across them the wrong one.
        let mut positions = vec![scored(1, -300.0, 280.0), scored(1, -280.0, 300.0), scored(2, 280.0, -300.0)];
        assert_eq!(siblings(&positions[..2]), "");
        assert_eq!(siblings(&positions[1..]), "");
        positions.push(scored(2, 300.0, -280.0));
        let line = "moves of 2 positions told apart: correlation 1.000, of good moves 1.000\n";
        assert_eq!(siblings(&positions), line);
        // A move that loses much is not a good one, however it is scored.
        positions.push(scored(2, 200.0, 900.0));
        let text = siblings(&positions);
        assert!(!text.contains("correlation 1.000") && text.ends_with("of good moves 1.000\n"), "{text}");
    }

    #[test]
    fn lines_with_a_number_sign_part_siblings() {
        let line = "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1;900,80,20";
        let judged = parse(&format!("{line}\n# a parent\n{line}\n\n{line}\n#\n{line}\n")).unwrap();
        assert_eq!(judged.iter().map(|judged| judged.group).collect::<Vec<_>>(), [0, 1, 1, 2]);
    }
}
