// Package publictest is what a program of libp2p's public tests is told in the environment and in redis, and what it
// prints. test/interop/public/README.md describes both.
package publictest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/redis/go-redis/v9"

	"libp2p-fast-tcp/peers/program"
	"libp2p-fast-tcp/peers/stack"
)

// Main runs the program until it has ended, or docker ends it.
func Main(run func(ctx context.Context, db *redis.Client) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	db := redis.NewClient(redisOptions(os.Getenv("REDIS_ADDR")))

	program.Main(func([]string) error { return run(ctx, db) })
}

// IsDialer says which end this is.
func IsDialer() bool {
	return os.Getenv("IS_DIALER") == "true"
}

// Stack is the transport, the security protocol and the muxer of this test.
func Stack() (libp2p.Option, error) {
	if os.Getenv("TRANSPORT") != "tcp" || os.Getenv("MUXER") != "yamux" {
		return nil, errors.New("this program speaks TCP and Yamux only")
	}

	return stack.Options(os.Getenv("SECURE_CHANNEL"))
}

// Key is one of this test, in the redis that all tests share.
func Key(name string) string {
	return os.Getenv("TEST_KEY") + "_" + name
}

// Timeout is how long an end may take.
func Timeout() time.Duration {
	seconds, err := strconv.Atoi(os.Getenv("TEST_TIMEOUT_SECS"))
	if err != nil {
		seconds = 180
	}

	return time.Duration(seconds) * time.Second
}

// PrintLatency prints the dialer's result.
func PrintLatency(total time.Duration, ping time.Duration) {
	fmt.Println("latency:")
	fmt.Printf("  handshake_plus_one_rtt: %.3f\n", program.Milliseconds(total))
	fmt.Printf("  ping_rtt: %.3f\n", program.Milliseconds(ping))
	fmt.Println("  unit: ms")
}

// redisOptions takes a path for a unix socket: that is how ends in network namespaces share one redis.
func redisOptions(address string) *redis.Options {
	if strings.HasPrefix(address, "/") {
		return &redis.Options{Network: "unix", Addr: address}
	}

	return &redis.Options{Addr: address}
}
