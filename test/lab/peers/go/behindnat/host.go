// Package behindnat is a host that others reach over a relay and by hole punching.
package behindnat

import (
	"context"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
)

// New makes a host that listens there.
func New(common libp2p.Option, listen string, options ...holepunch.Option) (host.Host, error) {
	return libp2p.New(
		common,
		libp2p.ListenAddrStrings(listen),
		// nobody is there who could find out
		libp2p.ForceReachabilityPrivate(),
		libp2p.EnableHolePunching(options...),
	)
}

// Reserve returns the address that the relay observed, once the host has a reservation there and answers DCUtR.
func Reserve(ctx context.Context, h host.Host, relay peer.AddrInfo) (string, error) {
	identified, err := h.EventBus().Subscribe(new(event.EvtPeerIdentificationCompleted))
	if err != nil {
		return "", err
	}
	defer identified.Close()

	if err := h.Connect(ctx, relay); err != nil {
		return "", err
	}

	if _, err := client.Reserve(ctx, h, relay); err != nil {
		return "", err
	}

	// the hole punching service looks now and then whether there is an address to offer
	for !slices.Contains(h.Mux().Protocols(), holepunch.Protocol) {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}

	select {
	case e := <-identified.Out():
		return e.(event.EvtPeerIdentificationCompleted).ObservedAddr.String(), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
