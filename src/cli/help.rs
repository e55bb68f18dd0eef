//! The text of `kiln help`.

use super::{SPEEDTEST_HASH_PER_THREAD, SPEEDTEST_SECONDS, analyse};
use kiln::tools::bench::DEFAULT_DEPTH;
use kiln::tools::datagen::Settings;

/// Returns the text of `kiln help`, with the defaults that the commands use.
pub fn help() -> String {
    let Settings { shard_positions, soft_nodes, frc_percent, book_percent, hash, .. } = Settings::default();
    let analysis_hash = analyse::DEFAULT_HASH;
    let tune = tune();
    format!(
        "\
Kiln, a UCI chess engine.

  kiln                    speak UCI on standard input; chess GUIs start it like this
  kiln bench [DEPTH]      search fixed positions to depth {DEFAULT_DEPTH} or DEPTH; the node count
                          identifies the version
  kiln speedtest [THREADS] [HASH] [SECONDS]
                          search the positions of some games and show the nodes per
                          second; by default on all processors, with {SPEEDTEST_HASH_PER_THREAD} MB of hash
                          per thread, for {SPEEDTEST_SECONDS} seconds
  kiln analyse [FEN | startpos] [moves MOVE ...] [--time SECONDS] [--depth N]
                  [--lines N] [--hash MB] [--threads N]
                          show the best lines, with {analysis_hash} MB of hash by default; moves
                          like e2e4 or Nf3
  kiln perft DEPTH [FEN] [--divide] [--threads N]
                          count the leaves of the move tree from FEN or the starting
                          position; --divide shows the count of each root move
  kiln tables             list the lookup tables that the build generated
  kiln tables PIECE SQUARE [OCCUPIED]
                          draw the attacks of a rook, bishop, queen, knight, king,
                          white-pawn or black-pawn; OCCUPIED is hexadecimal as in
                          0x1000, squares as in e6 g4, or a FEN
  kiln tables between|line SQUARE SQUARE
                          draw the squares between two squares, or the line through
                          them
  kiln tables superpiece SQUARE
                          draw the slots of a queen and knight in one
  kiln net info FILE      show the header of a network file
  kiln net verify FILE    check its hash and expected scores
  kiln net yardstick [NETWORK] POSITIONS
                          compare its scores with the results that a stronger engine
                          expects; lines of POSITIONS are FEN;W,D,L in thousandths.
                          Without NETWORK, compare the scores that follow: FEN;W,D,L;CP
  kiln net import QUANTISED FILE --hidden N [--layers N,N [--pairwise]]
                  [--mirrored] [--merged-kings] [--threats none|states|pairs]
                  [--king-buckets LIST] [--output-buckets N] [--qa N] [--qb N]
                  [--scale N] [--name TEXT]
                          convert what the trainer bullet wrote into a network file;
                          LIST is 64 numbers for a1 to h8, or a file of them; with
                          --pairwise, products of two neurons feed the first layer
  kiln net export FILE QUANTISED
                          write the weights in bullet's format
  kiln datagen FOLDER --positions N [--nodes N] [--threads N] [--seed N]
                  [--network FILE] [--frc PERCENT] [--hash MB] [--shard N]
                  [--book FILE] [--book-percent PERCENT]
                  [--pv-plies N] [--branches N] [--tree-nodes N]
                  [--backward-nodes N] [--backward-every N]
                  [--adjudicate-pieces N] [--end-pieces N] [--commit TEXT]
                          generate N training positions by self-play, in shards of
                          {shard_positions} or --shard positions. Defaults: {soft_nodes} nodes per move,
                          after which no new iteration starts; {frc_percent} % of the games
                          from Chess960; {hash} MB of hash per thread. With a book of FENs
                          or EPDs, {book_percent} % of the games start from it. After each
                          search, N plies of its principal variation are played, by
                          default 1; all have its score. After each game follow N
                          branches of one search each, mostly where the evaluation
                          errs: half from a position of the search tree below one of
                          the game or of a branch, the others after a random move. Quiet
                          positions of the search trees with N or more nodes below
                          them are training positions too, with what the search found,
                          mostly bounds; by default, and with 0, they are not. With
                          --backward-nodes, games and branches are scored again from their
                          end, by N nodes for each trainable position. With
                          --backward-every, the first and one in N of the others are;
                          each other position gets the score of the one before. With
                          --adjudicate-pieces, positions of fewer than N pieces are not
                          adjudicated. With --end-pieces, games end with fewer than N
                          pieces, and the score tells their outcome. The same command
                          writes the same bytes, and resumes a stopped run. Ctrl-C keeps
                          what is done; a second one ends at once
  kiln data stat FILE… [--svg DRAWING]
                          show statistics of scores, pieces, results, lengths and
                          duplicates, compare the FILEs, and draw curves of each
  kiln data verify FILE…  check hashes, moves and results, and name all bad files
  kiln data merge FOLDER FILE…
  kiln data shuffle FOLDER FILE… [--seed N]
                          write all games into shards in FOLDER, in order or shuffled;
                          a FILE may be a folder of shards
  kiln data import FOLDER PGN…
                          write games in PGN whose comments have scores into shards in
                          FOLDER, such as those of an OpenBench worker
{tune}  kiln COMMAND ...        run UCI commands up to the first that is rejected, as in:
                          kiln position startpos go depth 9
  kiln help | --help      show this text
  kiln --version          show the version, network, instruction set and compiler

FEN may be one argument or several.
"
    )
}

#[cfg(not(feature = "tune"))]
fn tune() -> &'static str {
    ""
}

/// Returns the part about `kiln tune`.
#[cfg(feature = "tune")]
fn tune() -> String {
    let kiln::tools::tune::Settings { pace, rate, .. } = Default::default();
    format!(
        "  kiln tune FOLDER --games N --book FILE [--nodes N | N+INCREMENT]
                  [--threads N] [--parameters NAME,NAME*,...] [--rate RATE]
                  [--seed N]
                          tune the parameters of the search by SPSA in N games from
                          positions of the book (FEN or EPD), and write parameters.txt
                          and paths.svg. N+INCREMENT is a clock of nodes, for the parameters
                          of time. Defaults: {pace} nodes per move, a final learning rate of
                          {rate}, all parameters that have an effect. The same command
                          resumes a stopped run or, with more games, extends it
"
    )
}
