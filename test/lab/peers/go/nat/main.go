// Command nat is a go-libp2p host for the NAT lab: a public relay, or a private node that is to be reached by hole
// punching. test/nat/README.md describes the command line and the lines that it prints.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"libp2p-fast-tcp/peers/program"
	"libp2p-fast-tcp/peers/stack"
)

const usage = program.Usage(`usage: nat relay --listen <multiaddr> [--security noise|tls]
       nat private --listen <multiaddr> --relay <multiaddr> [--security noise|tls]`)

func main() {
	program.Main(run)
}

func run(args []string) error {
	if len(args) == 0 {
		return usage
	}

	flags := flag.NewFlagSet("nat", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	listen := flags.String("listen", "", "")
	relay := flags.String("relay", "", "")
	security := flags.String("security", "noise", "")

	if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 || *listen == "" {
		return usage
	}

	common, err := stack.Options(*security)
	if err != nil {
		return fmt.Errorf("%w\n%w", err, usage)
	}

	switch args[0] {
	case "relay":
		return runRelay(common, *listen)
	case "private":
		return runPrivate(common, *listen, *relay)
	default:
		return usage
	}
}

var (
	stdout   = json.NewEncoder(os.Stdout)
	stdoutMx sync.Mutex
)

func tell(line map[string]any) {
	stdoutMx.Lock()
	defer stdoutMx.Unlock()
	stdout.Encode(line)
}
