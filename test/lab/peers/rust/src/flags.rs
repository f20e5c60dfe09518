use std::{collections::HashMap, str::FromStr};

/// What is left of a command line of `--name value` and `--name=value`.
pub struct Flags(HashMap<String, String>);

impl Flags {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = HashMap::new();

        while let Some(arg) = args.next() {
            let flag = arg.strip_prefix("--").ok_or(format!("unexpected: {arg}"))?;
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => (flag, args.next().ok_or(format!("{arg}: no value"))?),
            };
            flags.insert(name.to_owned(), value);
        }

        Ok(Self(flags))
    }

    pub fn take<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, String>
    where
        T::Err: ToString,
    {
        match self.0.remove(name) {
            Some(value) => parse(&format!("--{name}"), &value),
            None => Ok(default),
        }
    }

    pub fn take_needed<T: FromStr>(&mut self, name: &str) -> Result<T, String>
    where
        T::Err: ToString,
    {
        let value = self.0.remove(name).ok_or(format!("--{name} is missing"))?;

        parse(&format!("--{name}"), &value)
    }

    /// Fails on a flag that nobody has taken.
    pub fn end(self) -> Result<(), String> {
        match self.0.into_keys().next() {
            Some(unknown) => Err(format!("no such flag: --{unknown}")),
            None => Ok(()),
        }
    }
}

pub fn parse<T: FromStr>(what: &str, value: &str) -> Result<T, String>
where
    T::Err: ToString,
{
    value
        .parse()
        .map_err(|error: T::Err| format!("{what} {value}: {}", error.to_string()))
}
