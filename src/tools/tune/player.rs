//! A process that plays pairs of games, from the side of the process that asks for them.

use super::games::Request;
use super::spsa::Tunable;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The command that the process runs.
pub const COMMAND: &str = "tune-games";

/// A process that plays one pair at a time. It ends with this value.
pub struct Player {
    process: Child,
    /// `None` only at the end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Player {
    /// Starts a process of the running binary for these parameters.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn start(parameters: &[Tunable]) -> Result<Self, String> {
        let start = || {
            let mut command = Command::new(env::current_exe()?);
            command.arg(COMMAND).args(parameters.iter().map(|parameter| &parameter.name));
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
        };
        let mut process = start().map_err(|error| format!("cannot start a process to play games: {error}"))?;
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("the output is a pipe"));
        Ok(Self { process, input, output })
    }

    /// Plays a pair and returns the points of the first side minus those of the second.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn play(&mut self, request: &Request) -> Result<i32, String> {
        let mut line = String::new();
        let input = self.input.as_mut().expect("only the end closes it");
        // One write, so that the process gets the whole line at once.
        let played = input.write_all(format!("{request}\n").as_bytes());
        let played = played.and_then(|()| self.output.read_line(&mut line));
        let result = played.ok().and_then(|_| line.trim_end().parse().ok()).filter(|result| (-2..=2).contains(result));
        result.ok_or_else(|| format!("a process that plays games has failed in the pair {request}"))
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // The end of its input ends the process.
        self.input = None;
        let _ = self.process.wait();
    }
}
