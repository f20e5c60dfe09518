package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"

	"libp2p-fast-tcp/peers/behindnat"
	"libp2p-fast-tcp/peers/program"
)

const readyTimeout = 15 * time.Second

// runPrivate serves until stdin closes. A line "dial <multiaddr>" makes it dial.
func runPrivate(common libp2p.Option, listen string, relay string) error {
	info, err := peer.AddrInfoFromString(relay)
	if err != nil {
		return fmt.Errorf("%s: %w\n%w", relay, err, usage)
	}

	h, err := behindnat.New(common, listen, holepunch.WithTracer(tracer{}))
	if err != nil {
		return err
	}
	defer h.Close()

	connections := &connections{relay: info.ID, relayed: map[peer.ID]time.Time{}}
	h.Network().Notify(&network.NotifyBundle{ConnectedF: connections.opened, DisconnectedF: connections.closed})

	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()

	observed, err := behindnat.Reserve(ctx, h, *info)
	if err != nil {
		return err
	}

	tell(map[string]any{
		"event":    "ready",
		"peerId":   h.ID().String(),
		"observed": []string{observed},
		"address":  fmt.Sprintf("%s/p2p-circuit/p2p/%s", relay, h.ID()),
	})

	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		address, isDial := strings.CutPrefix(lines.Text(), "dial ")
		target, err := peer.AddrInfoFromString(address)
		if err != nil || !isDial {
			return fmt.Errorf("%s: %w", lines.Text(), usage)
		}

		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
			defer cancel()

			if err := h.Connect(ctx, *target); err != nil {
				tell(map[string]any{"event": "dial-error", "reason": err.Error()})
			}
		}()
	}

	return nil
}

// connections tells of connections to others than the relay.
type connections struct {
	relay   peer.ID
	mutex   sync.Mutex
	relayed map[peer.ID]time.Time
}

func (n *connections) opened(_ network.Network, conn network.Conn) {
	remote := conn.RemotePeer()

	if remote == n.relay {
		return
	}

	n.mutex.Lock()
	defer n.mutex.Unlock()

	if conn.Stat().Limited {
		n.relayed[remote] = time.Now()
		tell(map[string]any{"event": "relayed", "peer": remote.String()})
		return
	}

	line := map[string]any{"event": "direct", "peer": remote.String(), "address": conn.RemoteMultiaddr().String()}
	if since, ok := n.relayed[remote]; ok {
		line["ms"] = program.Milliseconds(time.Since(since))
	}
	tell(line)
}

func (n *connections) closed(_ network.Network, conn network.Conn) {
	if conn.RemotePeer() != n.relay && conn.Stat().Limited {
		tell(map[string]any{"event": "relayed-closed", "peer": conn.RemotePeer().String()})
	}
}

// tracer tells of punches that failed.
type tracer struct{}

func (tracer) Trace(evt *holepunch.Event) {
	switch e := evt.Evt.(type) {
	case *holepunch.EndHolePunchEvt:
		if !e.Success {
			tell(map[string]any{"event": "failed", "peer": evt.Remote.String(), "reason": e.Error})
		}
	case *holepunch.ProtocolErrorEvt:
		tell(map[string]any{"event": "failed", "peer": evt.Remote.String(), "reason": e.Error})
	}
}
