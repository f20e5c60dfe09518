use std::str::FromStr;

#[derive(Clone, Copy)]
pub enum Security {
    Noise,
    Tls,
}

impl FromStr for Security {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "noise" => Ok(Self::Noise),
            "tls" => Ok(Self::Tls),
            _ => Err("no such security protocol".to_owned()),
        }
    }
}
