/** A counter in the text of /proc/net/snmp or /proc/net/netstat: a line of names, and one of values */
export function counterIn (text: string, group: string, name: string): number {
  const [names, values] = text.split('\n').filter(line => line.startsWith(`${group}:`)).map(line => line.split(' '))

  return Number(values[names.indexOf(name)])
}

/** How many connects a network namespace has begun, by its /proc/net/snmp */
export function activeOpens (snmp: string): number {
  return counterIn(snmp, 'Tcp', 'ActiveOpens')
}
