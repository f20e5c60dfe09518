package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
)

// outcome is one line of output.
type outcome struct {
	OK          bool    `json:"ok"`
	FirstByteMs float64 `json:"firstByteMs,omitempty"`
	TotalMs     float64 `json:"totalMs,omitempty"`
	Error       string  `json:"error,omitempty"`
}

var errFailed = errors.New("not every dial succeeded")

func dial(address string, count int, size int, timeoutMs int, security string) error {
	common, err := stack(security)
	if err != nil {
		return err
	}

	target, err := peer.AddrInfoFromString(address)
	if err != nil {
		return fmt.Errorf("%s: %w\n%w", address, err, errUsage)
	}

	h, err := libp2p.New(common, libp2p.NoListenAddrs)
	if err != nil {
		return err
	}
	defer h.Close()

	out := json.NewEncoder(os.Stdout)
	failed := false

	for range count {
		result := dialOnce(h, *target, size, time.Duration(timeoutMs)*time.Millisecond)
		failed = failed || !result.OK

		if err := out.Encode(result); err != nil {
			return err
		}

		// The next run needs a connection of its own, must not be refused because this one failed, and must dial the
		// address that it was given: identify has told the host the addresses that the remote itself listens on, which
		// would lead past a proxy.
		h.Network().ClosePeer(target.ID)
		h.Network().(*swarm.Swarm).Backoff().Clear(target.ID)
		h.Peerstore().ClearAddrs(target.ID)
	}

	if failed {
		return errFailed
	}

	return nil
}

func dialOnce(h host.Host, target peer.AddrInfo, size int, timeout time.Duration) outcome {
	sent := make([]byte, size)
	rand.Read(sent)

	start := time.Now()
	ctx, cancel := context.WithDeadline(context.Background(), start.Add(timeout))
	defer cancel()

	firstByte, err := echoOnce(ctx, h, target, sent)
	if err != nil {
		return outcome{Error: err.Error()}
	}

	return outcome{OK: true, FirstByteMs: milliseconds(firstByte.Sub(start)), TotalMs: milliseconds(time.Since(start))}
}

// echoOnce returns the time at which the first echoed byte was there.
func echoOnce(ctx context.Context, h host.Host, target peer.AddrInfo, sent []byte) (firstByte time.Time, err error) {
	if err := h.Connect(ctx, target); err != nil {
		return firstByte, fmt.Errorf("connect: %w", err)
	}

	s, err := h.NewStream(ctx, target.ID, echoProtocol)
	if err != nil {
		return firstByte, fmt.Errorf("new stream: %w", err)
	}
	// does nothing to a stream that was closed
	defer s.Reset()

	deadline, _ := ctx.Deadline()
	if err := s.SetDeadline(deadline); err != nil {
		return firstByte, err
	}

	received := make([]byte, 1, len(sent))

	if _, err := s.Write(sent[:1]); err != nil {
		return firstByte, fmt.Errorf("write the first byte: %w", err)
	}

	if _, err := io.ReadFull(s, received); err != nil {
		return firstByte, fmt.Errorf("read the first byte: %w", err)
	}

	firstByte = time.Now()

	// written aside, because the windows of both directions are smaller than what a test may ask for
	written := make(chan error, 1)
	go func() {
		_, err := s.Write(sent[1:])
		if err == nil {
			err = s.CloseWrite()
		}
		written <- err
	}()

	// one byte more than expected would be read too, and fails the comparison
	rest, err := io.ReadAll(io.LimitReader(s, int64(len(sent))))
	if err != nil {
		return firstByte, fmt.Errorf("read the echo: %w", err)
	}

	if err := <-written; err != nil {
		return firstByte, fmt.Errorf("write: %w", err)
	}

	if received = append(received, rest...); !bytes.Equal(received, sent) {
		return firstByte, fmt.Errorf("the echo of %d bytes came back as %d bytes that differ", len(sent), len(received))
	}

	return firstByte, s.Close()
}

// milliseconds keeps three decimals: what the timer can tell, in a line that can be read.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d.Microseconds())) / 1000
}
