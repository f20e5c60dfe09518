package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
)

// listen serves until stdin closes, which also happens when the test that started this process dies, or SIGTERM.
func listen(common libp2p.Option, host string, port uint) error {
	family := "ip4"
	if strings.Contains(host, ":") {
		family = "ip6"
	}

	// the default resets what comes while 256 streams of a connection wait for their handler: 388 of 1,000 that js opened
	// at once over TLS
	muxer := *yamux.DefaultTransport
	muxer.AcceptBacklog = 4096

	h, err := libp2p.New(
		common,
		libp2p.Muxer(yamux.ID, &muxer),
		libp2p.ListenAddrStrings(fmt.Sprintf("/%s/%s/tcp/%d", family, host, port)),
		libp2p.DisableRelay(),
		// the defaults admit 8 connections at a time from one address that is not loopback, and trim them to 160 once
		// there are more than 192; every connection of a test comes from one address
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
	)
	if err != nil {
		return err
	}
	defer h.Close()

	arrived := &arrivals{Uploads: []int64{}}

	// ping and identify are served by the host itself
	h.SetStreamHandler(echoProtocol, echo)
	h.SetStreamHandler(sinkProtocol, arrived.sink)
	h.SetStreamHandler(perfProtocol, perf)

	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{
		"multiaddr": fmt.Sprintf("%s/p2p/%s", h.Network().ListenAddresses()[0], h.ID()),
		"peerId":    h.ID().String(),
	}); err != nil {
		return err
	}

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	go func() {
		arrived.answer(os.Stdin)
		stop <- syscall.SIGTERM
	}()
	<-stop

	return nil
}

// echo sends back every byte as it comes and closes its side after the remote has closed its own.
func echo(s network.Stream) {
	if _, err := io.Copy(s, s); err != nil {
		s.Reset()
		return
	}

	s.Close()
}

// sink reads to the end and answers with the number of bytes that arrived, eight bytes in network order.
func (a *arrivals) sink(s network.Stream) {
	upload, chunk, count := a.open(), make([]byte, 64<<10), uint64(0)

	for {
		length, err := s.Read(chunk)
		count += uint64(length)
		a.add(upload, length)

		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			s.Reset()
			return
		}
	}

	if err := binary.Write(s, binary.BigEndian, count); err != nil {
		s.Reset()
		return
	}

	s.Close()
}

// perf is https://github.com/libp2p/specs/blob/master/perf/perf.md: the first eight bytes, in network order, are the
// number of bytes to send once the remote has closed its side.
func perf(s network.Stream) {
	var download uint64
	if err := binary.Read(s, binary.BigEndian, &download); err != nil {
		s.Reset()
		return
	}

	if _, err := io.Copy(io.Discard, s); err != nil {
		s.Reset()
		return
	}

	if err := sendBytes(s, download); err != nil {
		s.Reset()
		return
	}

	s.Close()
}
