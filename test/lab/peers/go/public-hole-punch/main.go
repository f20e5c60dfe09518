// Command public-hole-punch is go-libp2p's side of the public hole punching test, as one of the two ends: the relay is a
// program of another library.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	"github.com/redis/go-redis/v9"

	"libp2p-fast-tcp/peers/behindnat"
	"libp2p-fast-tcp/peers/publictest"
)

func main() {
	publictest.Main(run)
}

func run(ctx context.Context, db *redis.Client) error {
	within, cancel := context.WithTimeout(ctx, publictest.Timeout())
	defer cancel()

	common, err := publictest.Stack()
	if err != nil {
		return err
	}

	ip := os.Getenv("LISTENER_IP")
	if publictest.IsDialer() {
		ip = os.Getenv("DIALER_IP")
	}

	node, err := behindnat.New(common, fmt.Sprintf("/ip4/%s/tcp/0", ip))
	if err != nil {
		return err
	}
	defer node.Close()

	relay, err := value(within, db, "relay_multiaddr")
	if err != nil {
		return err
	}

	info, err := peer.AddrInfoFromString(relay)
	if err != nil {
		return err
	}

	if _, err := behindnat.Reserve(within, node, *info); err != nil {
		return err
	}

	if publictest.IsDialer() {
		return dial(within, node, db, relay)
	}

	if err := db.Set(ctx, publictest.Key("listener_peer_id"), node.ID().String(), 0).Err(); err != nil {
		return err
	}

	// until docker ends it
	<-ctx.Done()

	return nil
}

// dial dials over the relay, waits for a direct connection, and pings.
func dial(ctx context.Context, node host.Host, db *redis.Client, relay string) error {
	id, err := value(ctx, db, "listener_peer_id")
	if err != nil {
		return err
	}

	listener, err := peer.AddrInfoFromString(fmt.Sprintf("%s/p2p-circuit/p2p/%s", relay, id))
	if err != nil {
		return err
	}

	direct := make(chan struct{}, 1)
	node.Network().Notify(&network.NotifyBundle{ConnectedF: func(_ network.Network, conn network.Conn) {
		if conn.RemotePeer() == listener.ID && !conn.Stat().Limited {
			select {
			case direct <- struct{}{}:
			default:
			}
		}
	}})

	start := time.Now()

	if err := node.Connect(ctx, *listener); err != nil {
		return err
	}

	select {
	case <-direct:
	case <-ctx.Done():
		return fmt.Errorf("no direct connection: %w", ctx.Err())
	}

	// go-libp2p opens no stream on a relayed connection unless it is asked to
	result := <-ping.Ping(ctx, node, listener.ID)
	if result.Error != nil {
		return result.Error
	}

	publictest.PrintLatency(time.Since(start), result.RTT)

	return nil
}

// value is that of a key that another program sets.
func value(ctx context.Context, db *redis.Client, name string) (string, error) {
	for {
		found, err := db.Get(ctx, publictest.Key(name)).Result()
		if !errors.Is(err, redis.Nil) {
			return found, err
		}

		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("nobody has set %s: %w", publictest.Key(name), ctx.Err())
		}
	}
}
