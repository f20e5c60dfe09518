// Command public-transport is go-libp2p's side of the public transport test.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/redis/go-redis/v9"

	"libp2p-fast-tcp/peers/publictest"
)

func main() {
	publictest.Main(run)
}

func run(ctx context.Context, db *redis.Client) error {
	common, err := publictest.Stack()
	if err != nil {
		return err
	}

	listen := libp2p.NoListenAddrs
	if !publictest.IsDialer() {
		listen = libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/%s/tcp/0", os.Getenv("LISTENER_IP")))
	}

	node, err := libp2p.New(common, listen)
	if err != nil {
		return err
	}
	defer node.Close()

	key := publictest.Key("listener_multiaddr")

	if publictest.IsDialer() {
		return dial(ctx, node, db, key)
	}

	return serve(ctx, node, db, key)
}

func serve(ctx context.Context, node host.Host, db *redis.Client, key string) error {
	address, err := reachable(node.Addrs())
	if err != nil {
		return err
	}

	if err := db.RPush(ctx, key, fmt.Sprintf("%s/p2p/%s", address, node.ID())).Err(); err != nil {
		return err
	}

	// until docker ends it
	<-ctx.Done()

	return nil
}

func dial(ctx context.Context, node host.Host, db *redis.Client, key string) error {
	ctx, cancel := context.WithTimeout(ctx, publictest.Timeout())
	defer cancel()

	pair, err := db.BLPop(ctx, publictest.Timeout(), key).Result()
	if err != nil {
		return err
	}

	listener, err := peer.AddrInfoFromString(pair[1])
	if err != nil {
		return err
	}

	start := time.Now()

	if err := node.Connect(ctx, *listener); err != nil {
		return err
	}

	result := <-ping.Ping(ctx, node, listener.ID)
	if result.Error != nil {
		return result.Error
	}

	publictest.PrintLatency(time.Since(start), result.RTT)

	return nil
}

// reachable prefers an address that is not of the loopback interface: nobody else reaches that.
func reachable(addresses []ma.Multiaddr) (ma.Multiaddr, error) {
	if len(addresses) == 0 {
		return nil, errors.New("it listens nowhere")
	}

	for _, address := range addresses {
		if !manet.IsIPLoopback(address) {
			return address, nil
		}
	}

	return addresses[0], nil
}
