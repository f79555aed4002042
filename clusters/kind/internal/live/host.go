package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// Host is this machine, as the nodes of a cluster see it.
type Host struct {
	// Address of this machine in the nodes' network; "" if they cannot reach it.
	Address string
	// unreachable is why.
	unreachable error
}

// findHost finds the address of this machine in a node's network. With a rootless engine, or one in a virtual machine,
// the network's gateway is somewhere else, and nobody can listen on it here.
func findHost(ctx context.Context, n nodes.Node) (Host, error) {
	gateway, err := gatewayOf(ctx, n)
	if err != nil {
		return Host{}, fmt.Errorf("find this host's address in the nodes' network: %w", err)
	}
	if gateway == "" {
		return Host{unreachable: errors.New("their network has no gateway")}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(gateway, "0"))
	if err != nil {
		return Host{
			unreachable: fmt.Errorf("the gateway of their network is not on this machine, as with a rootless engine: %w", err),
		}, nil
	}
	return Host{Address: gateway}, listener.Close()
}

// gatewayOf returns the gateway of a node's network; "" if there is none.
func gatewayOf(ctx context.Context, n nodes.Node) (string, error) {
	if n.Engine.Program == "nerdctl" { // its inspect does not show the gateway
		route, err := n.Shell(ctx, "ip -4 route show default")
		_, via, _ := strings.Cut(route, "via ")
		return firstWord(via), err
	}
	out, err := n.Engine.Output(ctx, "inspect", "--type", "container", "--format",
		"{{range .NetworkSettings.Networks}}{{.Gateway}} {{end}}", n.Name)
	return firstWord(out), err
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return word
}

// CheckSystems rejects systems that are processes on this machine if the nodes cannot reach it.
func (h Host) CheckSystems(systems []clusters.System) error {
	if h.unreachable == nil {
		return nil
	}
	for _, system := range systems {
		if system.Kind() != "manifests" {
			return fmt.Errorf("system %s runs as a process on this machine, and the nodes cannot reach it: %w; use a rootful "+
				"engine on this machine, or --provider local", system.Name, h.unreachable)
		}
	}
	return nil
}
