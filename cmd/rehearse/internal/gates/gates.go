// Package gates is the command that looks up and shows feature gates.
package gates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// Answer is the result of the command.
type Answer struct {
	// Gates that were asked for, each in each version.
	Gates []features.Description `json:"gates,omitempty"`
	// Hops are the parts of a path.
	Hops []Hop `json:"hops,omitempty"`
	// LookedAt are the versions whose lists were read.
	LookedAt []string `json:"lookedAt"`
	// NotLookedAt is what the cache does not contain, each with the command that gets it: lists of versions in between,
	// and programs. Only programs show the components of a gate.
	NotLookedAt map[string]string `json:"notLookedAt,omitempty"`
}

// newAnswer also names the lists without components.
func newAnswer(lists ...*features.List) Answer {
	answer := Answer{LookedAt: versionsOf(lists), NotLookedAt: map[string]string{}}
	for _, list := range lists {
		if len(list.Programs) == 0 {
			answer.NotLookedAt["components of "+list.Version] = fmt.Sprintf("`rehearse fetch %s`", list.Version)
		}
	}
	return answer
}

// Hop is what flips between two versions of a path.
type Hop struct {
	From  string          `json:"from"`
	To    string          `json:"to"`
	Flips []features.Flip `json:"flips"`
}

// Command shows gates.
func Command() *cobra.Command {
	var version, output string
	var path []string
	command := &cobra.Command{
		Use:   "gates [NAME...]",
		Short: "Show feature gates: stage and default by version, and changes along a path",
		Long: `Gates shows feature gates from Kubernetes' own lists. With a NAME: the gate's stage and default in
every cached version. With --version: every gate of that version. With --path: which gates turn on
or off, are added, removed or locked between its versions, if you set no gates. COMPONENTS are those
whose --help lists the gate; --help does not list GA and deprecated gates.

Lists for --version and --path that are not in the cache are fetched through the Go module proxy.

Exit codes: 0 the gates were shown; 2 the input is wrong, or a list is not available; 3 a host cannot
be reached.`,
		Example: `  rehearse gates RelaxedServiceNameValidation
  rehearse gates --version 1.36
  rehearse gates --path 1.34,1.35,1.36
  rehearse gates --path 1.36,1.35 GangScheduling
  rehearse gates --version 1.36 -o json`,
		RunE: func(command *cobra.Command, names []string) error {
			if output != "table" && output != "json" {
				return fmt.Errorf("--output %q: want table or json", output)
			}
			store, err := cli.CachedReleases(cli.ProgressTo(command.ErrOrStderr()))
			if err != nil {
				return err
			}
			look := Look{Store: store, Names: names}
			var answer Answer
			switch {
			case version != "" && len(path) > 0:
				return errors.New("give either --version or --path")
			case version != "":
				answer, err = look.at(command, version)
			case len(path) > 0:
				answer, err = look.along(command, path)
			case len(names) > 0:
				answer, err = look.everywhere()
			default:
				return fmt.Errorf("%s: name a feature gate, or give --version or --path; see %s --help", command.CommandPath(),
					command.CommandPath())
			}
			if err != nil {
				return err
			}
			if output == "table" {
				return cli.Broken(write(command.OutOrStdout(), answer))
			}
			encoder := json.NewEncoder(command.OutOrStdout())
			encoder.SetIndent("", "  ")
			return cli.Broken(encoder.Encode(answer))
		},
	}
	command.Flags().StringVar(&version, "version", "", "show every gate of this version: 1.36 or 1.36.3")
	command.Flags().StringSliceVar(&path, "path", nil, "show the changes between these versions: 1.34,1.35")
	command.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	return command
}

// Look looks gates up.
type Look struct {
	Store *releases.Store
	Names []string
}

// List returns the list of a version, from the cache if possible.
func (l Look) List(command *cobra.Command, version string) (*features.List, error) {
	v, cached, err := l.Store.CachedVersion(version)
	if err != nil {
		return nil, err
	}
	exact := v.String()
	if !cached {
		if exact, err = l.Store.Resolve(command.Context(), version); err != nil {
			return nil, err
		}
	}
	list, err := l.Store.FeatureList(command.Context(), exact)
	var none *releases.NoFeatureListError
	if errors.As(err, &none) {
		return nil, fmt.Errorf("read the list of feature gates of Kubernetes %s: %w", exact, none.Err)
	}
	return list, err
}

// Known returns an error for each name that is in none of the lists.
func (l Look) Known(lists []*features.List) error {
	var errs []error
	for _, name := range l.Names {
		if slices.ContainsFunc(lists, func(list *features.List) bool { return len(list.Gates[name].Specs) > 0 }) {
			continue
		}
		hint := "check its spelling, or look at another version with --version"
		if near := features.Nearest(name, lists...); near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		errs = append(errs, fmt.Errorf("feature gate %s does not exist in Kubernetes %s; %s", name,
			strings.Join(versionsOf(lists), ", "), hint))
	}
	return errors.Join(errs...)
}

// at answers for one version: all its gates, or the named ones.
func (l Look) at(command *cobra.Command, version string) (Answer, error) {
	list, err := l.List(command, version)
	if err != nil {
		return Answer{}, err
	}
	answer := newAnswer(list)
	if len(l.Names) == 0 {
		answer.Gates = list.DescribeAll()
	}
	for _, name := range l.Names {
		answer.Gates = append(answer.Gates, list.Describe(name))
	}
	return answer, l.Known(append(l.Store.CachedLists(), list))
}

// along answers for a path: the flips on it, of all gates or of the named ones.
func (l Look) along(command *cobra.Command, path []string) (Answer, error) {
	if len(path) < 2 {
		return Answer{}, fmt.Errorf("--path %s: want two versions or more, such as 1.34,1.35", path[0])
	}
	lists := listed{}
	var states []clusters.State
	for _, version := range path {
		list, err := l.List(command, version)
		if err != nil {
			return Answer{}, err
		}
		lists, states = append(lists, list), append(states, clusters.State{Version: list.Version})
	}
	if err := l.Known(append(l.Store.CachedLists(), lists...)); err != nil {
		return Answer{}, err
	}
	answer := newAnswer(lists...)
	for _, hop := range features.Along(command.Context(), lists, states...) {
		if hop.Err != nil {
			return Answer{}, hop.Err
		}
		flips := hop.Flips
		if len(l.Names) > 0 {
			flips = slices.DeleteFunc(flips, func(f features.Flip) bool { return !slices.Contains(l.Names, f.Gate) })
		}
		answer.Hops = append(answer.Hops, Hop{From: hop.From.Version, To: hop.To.Version, Flips: flips})
	}
	return answer, nil
}

// listed are lists that were already read.
type listed []*features.List

// FeatureList returns the list of the version.
func (all listed) FeatureList(_ context.Context, version string) (*features.List, error) {
	for _, list := range all {
		if list.Version == version {
			return list, nil
		}
	}
	return nil, fmt.Errorf("the list of feature gates of Kubernetes %s was not read", version)
}

// everywhere answers for every version whose list is in the cache.
func (l Look) everywhere() (Answer, error) {
	lists := l.Store.CachedLists()
	if len(lists) == 0 {
		return Answer{}, fmt.Errorf("the cache has no list of feature gates yet; %s gets one",
			releases.HowToGetList("1.36"))
	}
	if err := l.Known(lists); err != nil {
		return Answer{}, err
	}
	answer := newAnswer(lists...)
	for _, name := range l.Names {
		for _, list := range lists {
			answer.Gates = append(answer.Gates, list.Describe(name))
		}
	}
	for v, last := lists[0].Of(), lists[len(lists)-1].Of(); v.Minor < last.Minor; v.Minor++ {
		minor := v.MinorString()
		if !slices.ContainsFunc(lists, func(list *features.List) bool { return list.Of().MinorString() == minor }) {
			answer.NotLookedAt["Kubernetes "+minor] = releases.HowToGetList(minor)
		}
	}
	return answer, nil
}

func versionsOf(lists []*features.List) []string {
	var all []string
	for _, list := range lists {
		if !slices.Contains(all, list.Version) {
			all = append(all, list.Version)
		}
	}
	return all
}
