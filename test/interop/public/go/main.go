// Command public-peer is go-libp2p's side of the public transport test: the environment, the keys in redis and the
// output are those of the programs in unified-testing. ../../../../docs/public-tests.md describes them.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/redis/go-redis/v9"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	isDialer := os.Getenv("IS_DIALER") == "true"

	node, err := newHost(isDialer)
	if err != nil {
		return err
	}
	defer node.Close()

	db := redis.NewClient(redisOptions(os.Getenv("REDIS_ADDR")))
	defer db.Close()

	key := os.Getenv("TEST_KEY") + "_listener_multiaddr"

	if isDialer {
		return dial(ctx, node, db, key)
	}

	return listen(ctx, node, db, key)
}

func listen(ctx context.Context, node host.Host, db *redis.Client, key string) error {
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
	ctx, cancel := context.WithTimeout(ctx, timeout())
	defer cancel()

	pair, err := db.BLPop(ctx, timeout(), key).Result()
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

	fmt.Println("latency:")
	fmt.Printf("  handshake_plus_one_rtt: %.3f\n", millis(time.Since(start)))
	fmt.Printf("  ping_rtt: %.3f\n", millis(result.RTT))
	fmt.Println("  unit: ms")

	return nil
}

func newHost(isDialer bool) (host.Host, error) {
	if os.Getenv("TRANSPORT") != "tcp" || os.Getenv("MUXER") != "yamux" {
		return nil, errors.New("this program speaks TCP and Yamux only")
	}

	options := []libp2p.Option{
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
	}

	switch name := os.Getenv("SECURE_CHANNEL"); name {
	case "noise":
		options = append(options, libp2p.Security(noise.ID, noise.New))
	case "tls":
		options = append(options, libp2p.Security(libp2ptls.ID, libp2ptls.New))
	default:
		return nil, fmt.Errorf("no such security protocol: %q", name)
	}

	if isDialer {
		options = append(options, libp2p.NoListenAddrs)
	} else {
		options = append(options, libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/%s/tcp/0", os.Getenv("LISTENER_IP"))))
	}

	return libp2p.New(options...)
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

// redisOptions takes a path for a unix socket: that is how ends in network namespaces share one redis.
func redisOptions(address string) *redis.Options {
	if strings.HasPrefix(address, "/") {
		return &redis.Options{Network: "unix", Addr: address}
	}

	return &redis.Options{Addr: address}
}

func timeout() time.Duration {
	seconds, err := strconv.Atoi(os.Getenv("TEST_TIMEOUT_SECS"))
	if err != nil {
		seconds = 180
	}

	return time.Duration(seconds) * time.Second
}

func millis(duration time.Duration) float64 {
	return float64(duration.Microseconds()) / 1_000
}
