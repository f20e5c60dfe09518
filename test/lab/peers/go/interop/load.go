package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"libp2p-fast-tcp/peers/program"
)

const (
	echoInterval   = 100 * time.Millisecond
	streamInterval = time.Second
	idleEchoes     = 9
)

// wait is what a user of the line waited for. It has no ms if it had not ended when the load was over.
type wait struct {
	Kind      string   `json:"kind"`
	At        int64    `json:"at"`
	Ms        *float64 `json:"ms,omitempty"`
	HasFailed bool     `json:"hasFailed,omitempty"`
}

// loadOutcome is the line of output.
type loadOutcome struct {
	Idle  float64 `json:"idle"`
	Waits []*wait `json:"waits"`
	Lived float64 `json:"lived"`
	Error string  `json:"error,omitempty"`
	RSS   int64   `json:"rss"`
}

// measureLoad uploads on so many streams for so long. Beside them a stream echoes 100 B, and a new one does so every
// second.
func measureLoad(common libp2p.Option, address string, uploads int, duration time.Duration) error {
	target, err := peer.AddrInfoFromString(address)
	if err != nil {
		return fmt.Errorf("%s: %w\n%w", address, err, usage)
	}

	h, err := libp2p.New(common, libp2p.NoListenAddrs)
	if err != nil {
		return err
	}
	defer h.Close()

	ctx := context.Background()
	if err := h.Connect(ctx, *target); err != nil {
		return err
	}

	old, err := h.NewStream(ctx, target.ID, echoProtocol)
	if err != nil {
		return err
	}

	var idle []float64
	for range idleEchoes {
		start := time.Now()
		if err := echoOn(old); err != nil {
			return err
		}
		idle = append(idle, program.Milliseconds(time.Since(start)))
	}
	slices.Sort(idle)

	ended := make(chan struct{})
	h.Network().Notify(&network.NotifyBundle{DisconnectedF: func(network.Network, network.Conn) { close(ended) }})

	for range uploads {
		s, err := h.NewStream(ctx, target.ID, sinkProtocol)
		if err != nil {
			return err
		}
		go sendBytes(s, 1<<62)
	}

	line := busyLine{start: time.Now()}
	echoes := newEchoes(old)
	go line.repeat(echoInterval, func() { line.timed("echo", echoes.once) })
	go line.repeat(streamInterval, func() { line.timed("stream", func() error { return newEcho(ctx, h, target.ID) }) })

	reason := ""
	select {
	case <-ended:
		reason = "the connection has ended"
	case <-time.After(duration):
	}

	return json.NewEncoder(os.Stdout).Encode(line.outcome(idle[len(idle)/2], reason))
}

// busyLine holds what was waited for until the load is over.
type busyLine struct {
	start time.Time
	mutex sync.Mutex
	waits []*wait
	over  bool
}

func (l *busyLine) timed(kind string, run func() error) {
	started := time.Now()
	w := &wait{Kind: kind, At: started.Sub(l.start).Milliseconds()}

	l.mutex.Lock()
	if !l.over {
		l.waits = append(l.waits, w)
	}
	l.mutex.Unlock()

	err := run()

	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case l.over:
	case err != nil:
		w.HasFailed = true
	default:
		ms := program.Milliseconds(time.Since(started))
		w.Ms = &ms
	}
}

// repeat does not wait for the last run: slow ones would be asked for seldom.
func (l *busyLine) repeat(interval time.Duration, run func()) {
	for range time.Tick(interval) {
		go run()
	}
}

// echoes sends messages on a stream and hears each come back.
type echoes struct {
	stream  network.Stream
	writes  sync.Mutex
	pending chan chan error
}

func newEchoes(s network.Stream) *echoes {
	e := &echoes{stream: s, pending: make(chan chan error, 4096)}

	go func() {
		message := make([]byte, 100)
		for back := range e.pending {
			_, err := io.ReadFull(s, message)
			back <- err
		}
	}()

	return e
}

func (e *echoes) once() error {
	back := make(chan error, 1)
	e.writes.Lock()
	e.pending <- back
	_, err := e.stream.Write(make([]byte, 100))
	e.writes.Unlock()
	if err != nil {
		return err
	}

	return <-back
}

func (l *busyLine) outcome(idle float64, reason string) loadOutcome {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.over = true

	var usage syscall.Rusage
	// it tells KiB, 0 where it cannot
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)

	return loadOutcome{
		Idle:  idle,
		Waits: l.waits,
		Lived: program.Milliseconds(time.Since(l.start)),
		Error: reason,
		RSS:   usage.Maxrss << 10,
	}
}

func newEcho(ctx context.Context, h host.Host, id peer.ID) error {
	s, err := h.NewStream(ctx, id, echoProtocol)
	if err != nil {
		return err
	}
	defer s.Close()

	return echoOn(s)
}

func echoOn(s network.Stream) error {
	message := make([]byte, 100)
	if _, err := s.Write(message); err != nil {
		return err
	}
	_, err := io.ReadFull(s, message)

	return err
}

// earlyPeriod is how long a listener measures how fast bytes come.
const earlyPeriod = 10 * time.Second

// arrivals counts what comes on the streams of a listener's sink.
type arrivals struct {
	mutex      sync.Mutex
	first      time.Time
	earlyBytes float64
	Uploads    []int64 `json:"uploads"`
	// bytes a ms from the first that come to the last within earlyPeriod
	Early float64 `json:"early"`
}

func (a *arrivals) open() int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.Uploads = append(a.Uploads, 0)

	return len(a.Uploads) - 1
}

func (a *arrivals) add(upload int, bytes int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.Uploads[upload] += int64(bytes)

	if a.first.IsZero() {
		a.first = time.Now()
		return
	}

	if since := time.Since(a.first); since <= earlyPeriod {
		a.earlyBytes += float64(bytes)
		a.Early = a.earlyBytes / program.Milliseconds(since)
	}
}

// answer prints what has come for each line of the input, to its end.
func (a *arrivals) answer(input io.Reader) {
	for lines := bufio.NewScanner(input); lines.Scan(); {
		a.mutex.Lock()
		_ = json.NewEncoder(os.Stdout).Encode(a)
		a.mutex.Unlock()
	}
}
