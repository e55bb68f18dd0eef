//! `kiln tables`, tested through the built binary.

use crate::common::{kiln, refusal};

fn tables(words: &[&str]) -> String {
    kiln(&[&["tables"], words].concat())
}

#[test]
fn every_blob_is_listed() {
    let list = tables(&[]);
    let words = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
    let mut lines = list.lines().map(words);
    assert_eq!(lines.next().unwrap(), ["blob", "bytes", "align", "type", "sha256"]);
    let lines: Vec<_> = lines.collect();
    let blob = |name: &str| lines.iter().find(|line| line[0] == name).unwrap_or_else(|| panic!("no {name} in {list}"));
    assert_eq!(blob("cuckoo")[1..4], ["81920", "64", "Cuckoo"]);
    assert_eq!(blob("superpiece")[1..4], ["30208", "64", "Superpiece"]);
    assert_eq!(blob("reductions")[1..6], ["8192", "64", "[[i16;", "64];", "64]"]);
    for line in &lines {
        let hash = line.last().unwrap();
        assert!(hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{line:?}");
        assert_eq!(line[2], "64", "{line:?}");
    }
}

#[test]
fn attack_sets_are_drawn() {
    let rook = "\
8  .  .  .  .  .  .  .  .
7  .  .  .  .  .  .  .  o
6  .  .  .  .  X  .  .  .
5  .  .  .  .  x  .  .  .
4  x  x  x  x  R  x  X  .
3  .  .  .  .  x  .  .  .
2  .  .  .  .  x  .  .  .
1  .  .  .  .  x  .  .  .
   a  b  c  d  e  f  g  h

R rook on e4   x attacked   X attacked and occupied   o occupied
11 squares, 0x000010106f101010
";
    assert_eq!(tables(&["rook", "e4", "e6", "g4", "h7"]), rook);
    assert_eq!(tables(&["rook", "e4", "0x80100040000000"]), rook);
    for (words, sum) in [
        (&["rook", "a1"][..], "14 squares, 0x01010101010101fe"),
        (&["bishop", "a1", "c3"], "2 squares, 0x0000000000040200"),
        (&["queen", "a1", "a2,b1,b2"], "3 squares, 0x0000000000000302"),
        (&["knight", "h8"], "2 squares, 0x0020400000000000"),
        (&["king", "e1"], "5 squares, 0x0000000000003828"),
        (&["white-pawn", "e4"], "2 squares, 0x0000002800000000"),
        (&["black-pawn", "e4"], "2 squares, 0x0000000000280000"),
        (&["rook", "a1", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"], "2 squares, 0x0000000000000102"),
        (&["rook", "e2", "8/8/8/8/8/4k3/4p3/4K3", "w", "-", "-"], "9 squares, 0x000000000010ef10"),
        (&["between", "a1", "h8"], "6 squares, 0x0040201008040200"),
        (&["between", "a1", "b3"], "0 squares, 0x0000000000000000"),
        (&["line", "c3", "d3"], "8 squares, 0x0000000000ff0000"),
        (&["superpiece", "a1"], "23 squares, "),
    ] {
        let drawn = tables(words);
        assert!(drawn.contains(sum), "{words:?}: {drawn}");
        assert_eq!(drawn.lines().count(), 12, "{words:?}: {drawn}");
    }
}

#[test]
fn lines_and_superpiece_lanes_are_drawn() {
    let line = tables(&["line", "b1", "b4"]);
    assert!(line.contains("\n4  .  o  .  .  .  .  .  .\n3  .  x  .  .  .  .  .  .\n"), "{line}");
    let superpiece = tables(&["superpiece", "e4"]);
    assert!(superpiece.contains("\n6   .   . nw2  n0  n2 ne0 "), "{superpiece}");
    assert!(superpiece.contains("\n4  w4  w3  w2  w1   @  e1  e2  e3\n"), "{superpiece}");
}

#[test]
fn bad_arguments_are_refused() {
    for (words, reason) in [
        (&["camel", "e4"][..], "cannot draw \"camel\": expected rook, "),
        (&["rook"], "rook needs a square, as in: kiln tables rook e4"),
        (&["rook", "e9"], "bad square \"e9\": expected a file and a rank from a1 to h8"),
        (&["rook", "e4", "e6", "zz"], "bad occupied square \"zz\": expected squares such as "),
        (&["rook", "e4", "0xfffffffffffffffff"], "expected one to 16 hexadecimal digits after 0x"),
        (&["rook", "e4", "0x"], "bad occupied squares \"0x\""),
        (&["rook", "e4", "0x+1"], "bad occupied squares \"0x+1\""),
        (&["rook", "e4", "8/8/8 w - - 0 1"], "bad piece placement \"8/8/8\": expected eight ranks"),
        (&["between", "a1"], "expected two squares, as in a1 h8; found 1"),
        (&["line", "a1", "b1", "c1"], "expected two squares, as in a1 h8; found 3"),
        (&["line", "a1", "é"], "bad square \"é\""),
        (&["superpiece"], "superpiece needs one square and nothing else"),
        (&["superpiece", "e4", "e5"], "superpiece needs one square and nothing else"),
    ] {
        let error = refusal(&[&["tables"], words].concat());
        assert!(error.contains(reason), "{words:?}: {error}");
    }
}
