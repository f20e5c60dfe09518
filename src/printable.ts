/** Control and format characters, line ends, halves of surrogate pairs: they move the cursor of a terminal or forge log lines */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Text that may come from a peer, fit to stand in a log line or an error
 * message. Addresses do: peers tell each other where to dial.
 */
export function printable (text: string): string {
  return text.replace(UNPRINTABLE, char => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}
