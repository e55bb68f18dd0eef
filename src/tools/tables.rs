//! `kiln tables`: lists the lookup tables that the build generated, and draws their entries as boards.

use super::paint::{self, Cell, Paint};
use crate::board::Position;
use crate::quote::quote;
use crate::tables::{
    between, bishop_attacks, king_attacks, knight_attacks, line, manifest, pawn_attacks, queen_attacks, rook_attacks,
    superpiece,
};
use crate::types::{Bitboard, Color, File, Rank, Square};
use kiln_gen::hexadecimal;
use kiln_gen::layout::NO_SLOT;

/// Formats the manifest with one blob per line.
pub fn describe(paint: Paint) -> String {
    let header = format!("{:<15}{:>10}{:>7}  {:<24}sha256", "blob", "bytes", "align", "type");
    let mut text = format!("{}\n", paint.bold(&header));
    for blob in manifest().blobs {
        let hash = hexadecimal(&blob.sha256[..8]);
        text += &format!("{:<15}{:>10}{:>7}  {:<24}{hash}\n", blob.name, blob.length, blob.alignment, blob.element);
    }
    text
}

/// What can be drawn, for error messages.
const DRAWINGS: &str = "rook, bishop, queen, knight, king, white-pawn, black-pawn, between, line or superpiece";

/// Draws one entry of a lookup table as a board from White's side.
///
/// `words` are a piece and its square, then optionally the occupied squares (hexadecimal, names of squares, or a FEN,
/// in one word or several); or `between` or `line` and two squares; or `superpiece` and a square.
///
/// # Errors
/// In one sentence that says which word is wrong and what is allowed.
///
/// ```
/// use kiln::tools::{paint::Paint, tables::draw};
/// assert!(draw(&["knight", "g1"], Paint::Plain)?.contains("3 squares, 0x0000000000a01000"));
/// assert!(draw(&["rook", "e9"], Paint::Plain).is_err());
/// # Ok::<(), String>(())
/// ```
pub fn draw(words: &[&str], paint: Paint) -> Result<String, String> {
    let (&what, words) = words.split_first().ok_or(format!("expected what to draw: {DRAWINGS}"))?;
    match what {
        "between" => draw_pair(words, between, "strictly between", paint),
        "line" => draw_pair(words, line, "on the line through", paint),
        "superpiece" => draw_superpiece(words, paint),
        _ => draw_attacks(what, words, paint),
    }
}

fn draw_attacks(what: &str, words: &[&str], paint: Paint) -> Result<String, String> {
    // The piece's letter in FEN, and its attacks.
    let (letter, attacks): (char, fn(Square, Bitboard) -> Bitboard) = match what {
        "rook" => ('R', rook_attacks),
        "bishop" => ('B', bishop_attacks),
        "queen" => ('Q', queen_attacks),
        "knight" => ('N', |square, _| knight_attacks(square)),
        "king" => ('K', |square, _| king_attacks(square)),
        "white-pawn" => ('P', |square, _| pawn_attacks(Color::White, square)),
        "black-pawn" => ('p', |square, _| pawn_attacks(Color::Black, square)),
        _ => return Err(format!("cannot draw {}: expected {DRAWINGS}", quote(what))),
    };
    let (&name, words) = words.split_first().ok_or(format!("{what} needs a square, as in: kiln tables {what} e4"))?;
    let square = read_square(name)?;
    let occupied = read_occupied(words)?;
    let attacked = attacks(square, occupied);
    let board = board(
        2,
        paint,
        |s| attacked.has(s),
        |s| {
            let mark = match (s == square, attacked.has(s), occupied.has(s)) {
                (true, ..) => letter,
                (_, true, true) => 'X',
                (_, true, false) => 'x',
                (_, false, true) => 'o',
                _ => '.',
            };
            mark.to_string()
        },
    );
    Ok(format!(
        "{board}\n{letter} {what} on {square}   x attacked   X attacked and occupied   o occupied\n{}\n",
        summary(attacked)
    ))
}

fn draw_pair(
    words: &[&str],
    table: fn(Square, Square) -> Bitboard,
    relation: &str,
    paint: Paint,
) -> Result<String, String> {
    let [a, b] = words[..] else {
        return Err(format!("expected two squares, as in a1 h8; found {}", words.len()));
    };
    let (a, b) = (read_square(a)?, read_square(b)?);
    let set = table(a, b);
    let board = board(
        2,
        paint,
        |s| set.has(s),
        |s| {
            let mark = match (s == a || s == b, set.has(s)) {
                (true, _) => 'o',
                (_, true) => 'x',
                _ => '.',
            };
            mark.to_string()
        },
    );
    Ok(format!("{board}\no {a} and {b}   x {relation} them\n{}\n", summary(set)))
}

fn draw_superpiece(words: &[&str], paint: Paint) -> Result<String, String> {
    let [name] = words[..] else {
        return Err(format!("superpiece needs one square and nothing else; found {}", words.len()));
    };
    let square = read_square(name)?;
    let board = board(
        3,
        paint,
        |s| superpiece().inverse[square][s] != NO_SLOT && s != square,
        |s| match superpiece().inverse[square][s] {
            _ if s == square => "@".into(),
            NO_SLOT => ".".into(),
            slot => format!("{}{}", ["n", "ne", "e", "se", "s", "sw", "w", "nw"][usize::from(slot / 8)], slot % 8),
        },
    );
    let reached = summary(Bitboard(superpiece().reach[square]));
    Ok(format!("{board}\n@ superpiece on {square}   lane and slot of each square, slot 0 is a knight's\n{reached}\n"))
}

/// Draws a board with coordinates. `cell` returns the text of a square, at most `width` characters. In colour, the
/// squares of which `is_marked` is true stand out, and dots are left out.
fn board(width: usize, paint: Paint, is_marked: impl Fn(Square) -> bool, cell: impl Fn(Square) -> String) -> String {
    if paint == Paint::Colored {
        return paint::board(width + 2, |s| Cell {
            lines: vec![cell(s).replace('.', "")],
            is_dark: false,
            is_marked: is_marked(s),
        });
    }
    let mut text = String::new();
    for rank in Rank::ALL.into_iter().rev() {
        text += &(rank as u8 + 1).to_string();
        for file in File::ALL {
            text += &format!(" {:>width$}", cell(Square::new(file, rank)));
        }
        text.push('\n');
    }
    text.push(' ');
    for file in File::ALL {
        text += &format!(" {:>width$}", file.letter());
    }
    text + "\n"
}

fn summary(set: Bitboard) -> String {
    format!("{} squares, {:#018x}", set.len(), set.0)
}

fn read_square(name: &str) -> Result<Square, String> {
    Square::from_name(name).ok_or(format!("bad square {}: expected a file and a rank from a1 to h8", quote(name)))
}

fn read_occupied(words: &[&str]) -> Result<Bitboard, String> {
    let text = words.join(" ");
    if text.contains('/') {
        let position = Position::from_fen_lenient(&text).map_err(|error| error.to_string())?.0;
        return Ok(position.occupied());
    }
    if let Some(digits) = text.strip_prefix("0x") {
        let set = u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
        return set
            .map(Bitboard)
            .ok_or(format!("bad occupied squares {}: expected one to 16 hexadecimal digits after 0x", quote(&text)));
    }
    let names = text.split([' ', ',']).filter(|name| !name.is_empty());
    let squares = names.map(|name| {
        Square::from_name(name).ok_or(format!(
            "bad occupied square {}: expected squares such as e6 g4, hexadecimal such as 0x5000000000, or a FEN",
            quote(name)
        ))
    });
    squares.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_occupied_squares() {
        let expected = Ok([Square::E6, Square::G4].into_iter().collect());
        for words in
            [&["e6", "g4"][..], &["e6 g4"], &["g4,e6"], &["e6,", "g4"], &["0x100040000000"], &["0x0000100040000000"]]
        {
            assert_eq!(read_occupied(words), expected, "{words:?}");
        }
        assert_eq!(read_occupied(&[]), Ok(Bitboard::EMPTY));
        assert_eq!(read_occupied(&["0xffffffffffffffff"]), Ok(Bitboard::FULL));
        let fen = "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1";
        let expected = Ok([Square::E1, Square::E2, Square::E3].into_iter().collect());
        assert_eq!(read_occupied(&[fen]), expected);
        assert_eq!(read_occupied(&fen.split(' ').collect::<Vec<_>>()), expected);
    }
}
