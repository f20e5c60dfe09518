package main

import (
	"fmt"
	"io"
	"os"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
)

// runRelay serves until stdin closes, which also happens when the test that started this process dies.
func runRelay(common libp2p.Option, listen string) error {
	h, err := libp2p.New(
		common,
		libp2p.ListenAddrStrings(listen),
		libp2p.EnableRelayService(),
		// nobody is there who could find out
		libp2p.ForceReachabilityPublic(),
		libp2p.ResourceManager(&network.NullResourceManager{}),
	)
	if err != nil {
		return err
	}
	defer h.Close()

	tell(map[string]any{
		"event":     "listening",
		"multiaddr": fmt.Sprintf("%s/p2p/%s", listen, h.ID()),
	})
	io.Copy(io.Discard, os.Stdin)

	return nil
}
