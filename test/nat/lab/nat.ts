/**
 * What stands between a host and the public network
 *
 * - `none`: a router alone, the host has a public address
 * - `masquerade`: keeps ports where it can, and drops what nobody inside has asked for
 * - `random`: the same with another port for every connection
 * - `reset`: as `masquerade`, but answers RST to what nobody inside has asked for
 * - `restricted`: as `masquerade`, but connections from {@link FORWARDED_PORT} leave a hole for where they went when they are closed
 * - `forward`: as `masquerade`, and passes on what comes for {@link FORWARDED_PORT}
 */
export type NatKind = 'none' | 'masquerade' | 'random' | 'reset' | 'restricted' | 'forward'

export const FORWARDED_PORT = 4001

/** Rules of nftables for a router with an outer device and a host inside */
export function rulesOf (kind: NatKind, { up, host }: { up: string, host: string }): string {
  return `
    table ip nat {
      set contacted {
        type ipv4_addr . inet_service
        flags dynamic,timeout
        timeout 5m
      }
      chain prerouting {
        type nat hook prerouting priority dstnat;
        ${kind === 'forward' ? `iifname "${up}" tcp dport ${FORWARDED_PORT} dnat to ${host}:${FORWARDED_PORT}` : ''}
        ${kind === 'restricted' ? `iifname "${up}" tcp dport ${FORWARDED_PORT} ip saddr . tcp sport @contacted dnat to ${host}:${FORWARDED_PORT}` : ''}
      }
      chain postrouting {
        type nat hook postrouting priority srcnat;
        ${kind === 'restricted' ? `oifname "${up}" tcp sport ${FORWARDED_PORT} add @contacted { ip daddr . tcp dport }` : ''}
        oifname "${up}" masquerade ${kind === 'random' ? 'fully-random' : ''}
      }
    }
    table ip filter {
      chain forward {
        type filter hook forward priority filter; policy drop;
        ct state established,related accept
        iifname != "${up}" accept
        ct status dnat accept
      }
      chain input {
        type filter hook input priority filter; policy accept;
        iifname "${up}" ct state new ${kind === 'reset' ? 'meta l4proto tcp reject with tcp reset' : 'drop'}
      }
    }
  `
}
