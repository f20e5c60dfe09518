// Package stack has what all hosts have in common.
package stack

import (
	"fmt"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

// Options are TCP alone, and one security protocol alone so that a cell of a matrix means what its name says. The muxer
// is the library's own default, Yamux.
func Options(security string) (libp2p.Option, error) {
	transport := libp2p.Transport(tcp.NewTCPTransport)

	switch security {
	case "noise":
		return libp2p.ChainOptions(transport, libp2p.Security(noise.ID, noise.New)), nil
	case "tls":
		return libp2p.ChainOptions(transport, libp2p.Security(libp2ptls.ID, libp2ptls.New)), nil
	default:
		return nil, fmt.Errorf("no such security protocol: %q", security)
	}
}
