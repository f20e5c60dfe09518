package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"libp2p-fast-tcp/peers/program"
)

// outcome is one line of output.
type outcome struct {
	OK          bool    `json:"ok"`
	ConnectedMs float64 `json:"connectedMs,omitempty"`
	OpenedMs    float64 `json:"openedMs,omitempty"`
	FirstByteMs float64 `json:"firstByteMs,omitempty"`
	TotalMs     float64 `json:"totalMs,omitempty"`
	CloseMs     float64 `json:"closeMs,omitempty"`
	Error       string  `json:"error,omitempty"`
}

// marks are the times at which the steps of a run were over.
type marks struct {
	connected, opened, firstByte time.Time
}

var errFailed = errors.New("not every dial succeeded")

func dial(common libp2p.Option, address string, count int, size int, timeout time.Duration) error {
	out := json.NewEncoder(os.Stdout)
	failed := false

	for line := range addresses(address, count) {
		target, err := parseTarget(line)
		if err != nil {
			return fmt.Errorf("%s: %w\n%w", line, err, usage)
		}

		// A host of its own for every run. One that has been connected remembers the addresses that the remote itself
		// listens on, which would lead past a proxy, backs off after a failure, and forgets what it knows of a peer some
		// time after the connection is closed, which may be just when the next dial begins: "no addresses".
		h, err := libp2p.New(common, libp2p.NoListenAddrs)
		if err != nil {
			return err
		}

		result := dialOnce(h, *target, size, timeout)
		failed = failed || !result.OK

		closing := time.Now()
		h.Network().ClosePeer(target.ID)
		if result.OK {
			result.CloseMs = program.Milliseconds(time.Since(closing))
		}

		if err := h.Close(); err != nil {
			return err
		}

		if err := out.Encode(result); err != nil {
			return err
		}
	}

	if failed {
		return errFailed
	}

	return nil
}

// addresses yields one address for every run: the same one count times, or, for "-", each line of stdin when it comes.
func addresses(address string, count int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if address != "-" {
			for range count {
				if !yield(address) {
					return
				}
			}
			return
		}

		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if !yield(lines.Text()) {
				return
			}
		}
	}
}

// parseTarget reads the addresses of one peer, with spaces between them.
func parseTarget(line string) (*peer.AddrInfo, error) {
	var target *peer.AddrInfo

	for _, address := range strings.Fields(line) {
		info, err := peer.AddrInfoFromString(address)
		if err != nil {
			return nil, err
		}

		if target == nil {
			target = info
		} else if target.ID != info.ID {
			return nil, errors.New("the addresses are of several peers")
		} else {
			target.Addrs = append(target.Addrs, info.Addrs...)
		}
	}

	if target == nil {
		return nil, errors.New("no address to dial")
	}

	return target, nil
}

func dialOnce(h host.Host, target peer.AddrInfo, size int, timeout time.Duration) outcome {
	sent := make([]byte, size)
	rand.Read(sent)

	start := time.Now()
	ctx, cancel := context.WithDeadline(context.Background(), start.Add(timeout))
	defer cancel()

	at, err := echoOnce(ctx, h, target, sent)
	if err != nil {
		return outcome{Error: err.Error()}
	}

	return outcome{
		OK:          true,
		ConnectedMs: program.Milliseconds(at.connected.Sub(start)),
		OpenedMs:    program.Milliseconds(at.opened.Sub(start)),
		FirstByteMs: program.Milliseconds(at.firstByte.Sub(start)),
		TotalMs:     program.Milliseconds(time.Since(start)),
	}
}

// echoOnce returns the times at which the host was connected, the stream open, and the first echoed byte there.
func echoOnce(ctx context.Context, h host.Host, target peer.AddrInfo, sent []byte) (at marks, err error) {
	if err := h.Connect(ctx, target); err != nil {
		return at, fmt.Errorf("connect: %w", err)
	}

	at.connected = time.Now()

	s, err := h.NewStream(ctx, target.ID, echoProtocol)
	if err != nil {
		return at, fmt.Errorf("new stream: %w", err)
	}
	at.opened = time.Now()
	// does nothing to a stream that was closed
	defer s.Reset()

	deadline, _ := ctx.Deadline()
	if err := s.SetDeadline(deadline); err != nil {
		return at, err
	}

	received := make([]byte, 1, len(sent))

	if _, err := s.Write(sent[:1]); err != nil {
		return at, fmt.Errorf("write the first byte: %w", err)
	}

	if _, err := io.ReadFull(s, received); err != nil {
		return at, fmt.Errorf("read the first byte: %w", err)
	}

	at.firstByte = time.Now()

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
		return at, fmt.Errorf("read the echo: %w", err)
	}

	if err := <-written; err != nil {
		return at, fmt.Errorf("write: %w", err)
	}

	if received = append(received, rest...); !bytes.Equal(received, sent) {
		return at, fmt.Errorf("the echo of %d bytes came back as %d bytes that differ", len(sent), len(received))
	}

	return at, s.Close()
}
