package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"libp2p-fast-tcp/peers/program"
)

// sample is what one exchange took, on the clock and of the processor.
type sample struct {
	Ms  float64 `json:"ms"`
	CPU float64 `json:"cpu"`
}

// perfOutcome is the line of output.
type perfOutcome struct {
	Up        sample    `json:"up"`
	Down      sample    `json:"down"`
	Latencies []float64 `json:"latencies"`
}

// The code and its windows are warm after so many bytes up and down.
const perfWarmUp = 1 << 20

// measurePerf uploads, downloads, and sends one byte up and down on a new stream so many times. Each of the three has a
// connection of its own.
func measurePerf(common libp2p.Option, address string, bytes uint64, count int) error {
	target, err := peer.AddrInfoFromString(address)
	if err != nil {
		return fmt.Errorf("%s: %w\n%w", address, err, usage)
	}

	result := perfOutcome{}

	err = errors.Join(
		connected(common, *target, func(ctx context.Context, h host.Host) (err error) {
			result.Up, err = exchange(ctx, h, target.ID, bytes, 0)
			return err
		}),
		connected(common, *target, func(ctx context.Context, h host.Host) (err error) {
			result.Down, err = exchange(ctx, h, target.ID, 0, bytes)
			return err
		}),
		connected(common, *target, func(ctx context.Context, h host.Host) error {
			for range count {
				one, err := exchange(ctx, h, target.ID, 1, 1)
				if err != nil {
					return err
				}
				result.Latencies = append(result.Latencies, one.Ms)
			}
			return nil
		}),
	)
	if err != nil {
		return err
	}

	return json.NewEncoder(os.Stdout).Encode(result)
}

func connected(common libp2p.Option, target peer.AddrInfo, run func(context.Context, host.Host) error) error {
	ctx := context.Background()

	h, err := libp2p.New(common, libp2p.NoListenAddrs)
	if err != nil {
		return err
	}
	defer h.Close()

	if err := h.Connect(ctx, target); err != nil {
		return err
	}

	if _, err := exchange(ctx, h, target.ID, perfWarmUp, perfWarmUp); err != nil {
		return err
	}

	return run(ctx, h)
}

func exchange(ctx context.Context, h host.Host, id peer.ID, upload uint64, download uint64) (sample, error) {
	cpu, start := processorTime(), time.Now()

	s, err := h.NewStream(ctx, id, perfProtocol)
	if err != nil {
		return sample{}, err
	}
	defer s.Reset()

	if err := binary.Write(s, binary.BigEndian, download); err != nil {
		return sample{}, err
	}

	if err := sendBytes(s, upload); err != nil {
		return sample{}, err
	}

	if err := s.CloseWrite(); err != nil {
		return sample{}, err
	}

	received, err := io.Copy(io.Discard, s)
	if err != nil {
		return sample{}, err
	}

	if uint64(received) != download {
		return sample{}, fmt.Errorf("%d bytes came in place of %d", received, download)
	}

	return sample{Ms: program.Milliseconds(time.Since(start)), CPU: program.Milliseconds(processorTime() - cpu)}, nil
}

func sendBytes(s network.Stream, count uint64) error {
	chunk := make([]byte, 64*1024)

	for count > 0 {
		length := min(count, uint64(len(chunk)))
		if _, err := s.Write(chunk[:length]); err != nil {
			return err
		}
		count -= length
	}

	return nil
}

// processorTime is what this process has used, in user and in system mode.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}

	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
