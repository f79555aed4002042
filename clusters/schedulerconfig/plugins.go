package schedulerconfig

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// A kube-scheduler does not start if a plugin that it does not know is enabled. It silently ignores such a plugin if
// it is only disabled or configured.

var doesNotExist = regexp.MustCompile(`Plugin "([^"]+)" does not exist`)

// named is a plugin that profiles disable or configure.
type named struct{ name, path string }

// unknownPlugins reports the plugins that profiles disable or configure but the program does not have.
func (q question) unknownPlugins(ctx context.Context, written []byte) (error, error) {
	enabled, err := enabledIn(written)
	if err != nil {
		return nil, q.unanswered(err)
	}
	var doubtful []named
	for _, n := range q.named() {
		if !slices.Contains(enabled, n.name) {
			doubtful = append(doubtful, n)
		}
	}
	var problems []error
	for len(doubtful) > 0 {
		unknown, err := q.firstUnknown(ctx, doubtful)
		if err != nil || unknown == "" {
			return errors.Join(problems...), err
		}
		var rest []named
		for _, n := range doubtful {
			if n.name != unknown {
				rest = append(rest, n)
				continue
			}
			problems = append(problems,
				fmt.Errorf("%s: kube-scheduler of Kubernetes %s has no plugin %q and would ignore this; among those it has are %s",
					n.path, q.state.VersionOf(q.component), n.name, strings.Join(enabled, ", ")))
		}
		doubtful = rest
	}
	return errors.Join(problems...), nil
}

// firstUnknown has the program enable plugins and returns the first one that it does not have; "" if it has all.
func (q question) firstUnknown(ctx context.Context, plugins []named) (string, error) {
	var enabled []any
	for _, plugin := range plugins {
		entry := map[string]any{"name": plugin.name}
		if !slices.ContainsFunc(enabled, func(e any) bool { return e.(map[string]any)["name"] == plugin.name }) {
			enabled = append(enabled, entry)
		}
	}
	_, rejected, err := q.try(ctx, []map[string]any{{
		"schedulerName": "default-scheduler",
		"plugins":       map[string]any{"multiPoint": map[string]any{"enabled": enabled}},
	}})
	if err != nil {
		return "", err
	}
	match := doesNotExist.FindStringSubmatch(rejected)
	if match == nil || !slices.ContainsFunc(plugins, func(n named) bool { return n.name == match[1] }) {
		return "", nil
	}
	return match[1], nil
}

// named lists the plugins that profiles disable or configure.
func (q question) named() []named {
	var all []named
	for i, profile := range q.profiles {
		path := fmt.Sprintf("%s[%d]", q.path, i)
		points, _ := profile["plugins"].(map[string]any)
		for _, point := range clusters.SortedKeys(points) {
			plugins, _ := points[point].(map[string]any)
			all = append(all, namesIn(plugins["disabled"], path+".plugins."+point+".disabled")...)
		}
		all = append(all, namesIn(profile["pluginConfig"], path+".pluginConfig")...)
	}
	return all
}

func namesIn(list any, path string) []named {
	var all []named
	entries, _ := list.([]any)
	for i, entry := range entries {
		fields, _ := entry.(map[string]any)
		if name, _ := fields["name"].(string); name != "" && name != "*" {
			all = append(all, named{name: name, path: fmt.Sprintf("%s[%d].name", path, i)})
		}
	}
	return all
}

// enabledIn lists the plugins that a configuration, as the program wrote it, enables anywhere.
func enabledIn(written []byte) ([]string, error) {
	var config struct {
		Profiles []struct {
			Plugins map[string]struct {
				Enabled []struct {
					Name string `json:"name"`
				} `json:"enabled"`
			} `json:"plugins"`
		} `json:"profiles"`
	}
	if err := yaml.Unmarshal(written, &config); err != nil {
		return nil, fmt.Errorf("read the configuration that it wrote: %w", err)
	}
	var names []string
	for _, profile := range config.Profiles {
		for _, plugins := range profile.Plugins {
			for _, plugin := range plugins.Enabled {
				names = append(names, plugin.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
