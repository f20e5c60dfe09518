#!/bin/sh
# Sets the routes that the test names, and becomes the program
set -e

if [ -n "$RELAY_IP" ]; then
  ip route add "$DIALER_LAN_SUBNET" via "$DIALER_ROUTER_IP" dev wan0
  ip route add "$LISTENER_LAN_SUBNET" via "$LISTENER_ROUTER_IP" dev wan0
else
  ip route add "$WAN_SUBNET" via "$WAN_ROUTER_IP" dev lan0
fi

exec node --no-warnings hole-punch.ts
