// Package simulators runs simulators in separate processes, so that each can be killed and restarted like the real
// system. A process is the same program again, with a hidden command.
package simulators

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// Command is the first argument that makes a program a simulator. The second argument is the simulator's name.
const Command = "simulator"

// TakenFlag is the flag of the hidden command for the file that gets a note of each liberty that takes effect.
const TakenFlag = "liberties-taken"

// Options of every simulator.
type Options = operator.Options

// Fault is a bug that a simulator has on request.
type Fault = fault.Fault

// Liberty is a difference that the simulated system's specification allows.
type Liberty = liberty.Liberty

// Simulator is one simulator of a program.
type Simulator struct {
	// Run installs the simulator's objects, and serves until the context ends.
	Run func(ctx context.Context, o Options) error
	// Configurable: it accepts a configuration (Options.Config).
	Configurable bool
	// Faults that it supports.
	Faults []Fault
	// Liberties that it supports.
	Liberties []Liberty
	// Variants that it supports.
	Variants []string
	// Groups are the API groups whose definitions it installs.
	Groups []string
	// Probes are objects whose creation, as a dry run, calls each of its webhooks.
	Probes []*unstructured.Unstructured
	// Hosts are additional names in its certificate.
	Hosts []string
}

// Catalog contains the simulators of a program, by name.
type Catalog map[string]Simulator

// Main runs a simulator and does not return, if the program's arguments ask for that. Every program that runs scenarios
// with simulated systems must call it early: rehearse itself, and the TestMain of a Go test.
func (c Catalog) Main() {
	if len(os.Args) < 3 || os.Args[1] != Command {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.run(ctx, os.Args[2], os.Args[3:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Systems returns how each simulator is run. executable is the program that calls Main.
func (c Catalog) Systems(executable string) systems.Simulators {
	all := systems.Simulators{}
	for name, simulator := range c {
		wide := slices.DeleteFunc(slices.Clone(simulator.Faults), func(f Fault) bool { return !f.ClusterWide })
		all[name] = systems.Simulator{
			Command: []string{executable, Command, name}, Faults: fault.Names(simulator.Faults), ClusterWide: fault.Names(wide),
			Liberties: liberty.Names(simulator.Liberties),
			Variants:  simulator.Variants, Groups: simulator.Groups, Probes: simulator.Probes, Hosts: simulator.Hosts,
			Configurable: simulator.Configurable,
		}
	}
	return all
}

// Own is Systems for the running program.
func (c Catalog) Own() (systems.Simulators, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file: %w", err)
	}
	return c.Systems(executable), nil
}

// Names returns the names of the simulators, in alphabetical order.
func (c Catalog) Names() []string { return clusters.SortedKeys(c) }

func (c Catalog) run(ctx context.Context, name string, args []string, log io.Writer) error {
	simulator, ok := c[name]
	if !ok {
		return fmt.Errorf("unknown simulator %q; known: %s", name, strings.Join(c.Names(), ", "))
	}
	var o Options
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig of the API server")
	faults := flags.String("faults", "", "bugs to have: A,B")
	liberties := flags.String("liberties", "", "allowed differences: A,B=SEED")
	flags.StringVar(&o.Host, "host", "", "address to serve on")
	flags.IntVar(&o.Port, "port", 0, "port to serve on")
	flags.StringVar(&o.CertDir, "cert-dir", "", "folder with tls.crt, tls.key and ca.crt")
	taken := flags.String(TakenFlag, "", "file that gets a line for each liberty that takes effect")
	flags.StringVar(&o.Variant, "variant", "", "variant of the specification")
	var config *string
	if simulator.Configurable {
		config = flags.String("config", "", "configuration, a YAML file")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *kubeconfig == "" || o.Host == "" || o.Port == 0 || o.CertDir == "" {
		return errors.New("give --kubeconfig, --host, --port and --cert-dir")
	}
	if *faults != "" {
		o.Faults = strings.Split(*faults, ",")
	}
	if *liberties != "" {
		// The seeds are chosen here and logged below, so that a run can be reproduced.
		o.Liberties = liberty.Seeded(strings.Split(*liberties, ","), rand.Uint64)
	}
	if *taken != "" {
		notes := liberty.Notes(*taken)
		o.Taken = func(name string) {
			if err := notes.Add(name, o.Liberties); err != nil {
				o.Logger.Error(err, "it is not noted that a liberty took effect", "liberty", name)
			}
		}
	}
	var err error
	if o.RESTConfig, err = clientcmd.BuildConfigFromFlags("", *kubeconfig); err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	o.RESTConfig.UserAgent = "rehearse-simulator/" + name
	o.Logger = logr.FromSlogHandler(slog.NewTextHandler(log, nil)).WithName(name)
	if len(o.Liberties) > 0 {
		o.Logger.Info("liberties are taken", "liberties", strings.Join(o.Liberties, ","))
	}
	if config != nil && *config != "" {
		if o.Config, err = os.ReadFile(*config); err != nil {
			return fmt.Errorf("read the configuration: %w", err)
		}
	}
	return simulator.Run(ctx, o)
}
