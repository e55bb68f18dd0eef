//! Embeds the tables that the build script writes, and draws some attack sets.
#![forbid(unsafe_code)]

kiln_gen::attacks!(mod attacks);

use attacks::{between, knight_attacks, rook_attacks};

fn draw(title: &str, set: u64) {
    println!("{title}");
    for rank in (0..8).rev() {
        let row: Vec<&str> = (0..8).map(|file| if set >> (8 * rank + file) & 1 != 0 { "X" } else { "." }).collect();
        println!("{}", row.join(" "));
    }
}

fn main() {
    const E4: usize = 28;
    const G4: usize = 30;
    const E6: usize = 44;
    const H7: usize = 55;
    draw("rook e4, blockers e6 g4", rook_attacks(E4, 1 << E6 | 1 << G4));
    draw("knight e4", knight_attacks(E4));
    draw("between e4 and h7", between(E4, H7));
}
