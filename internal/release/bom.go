package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The parts of CycloneDX 1.6 that we write (https://cyclonedx.org/docs/1.6/json/).
type (
	bom struct {
		Schema       string          `json:"$schema"`
		Format       string          `json:"bomFormat"`
		SpecVersion  string          `json:"specVersion"`
		Version      int             `json:"version"`
		Metadata     bomMetadata     `json:"metadata"`
		Components   []bomComponent  `json:"components"`
		Dependencies []bomDependency `json:"dependencies"`
	}
	bomMetadata struct {
		Timestamp string       `json:"timestamp,omitempty"`
		Component bomComponent `json:"component"`
	}
	bomComponent struct {
		Ref        string        `json:"bom-ref"`
		Type       string        `json:"type"`
		Name       string        `json:"name"`
		Version    string        `json:"version"`
		PURL       string        `json:"purl"`
		Licenses   []bomLicense  `json:"licenses,omitempty"`
		Properties []bomProperty `json:"properties,omitempty"`
	}
	bomLicense struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	bomProperty struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	bomDependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// encodeBOM returns the list of the modules in a program as JSON. It has no time if at is zero.
func encodeBOM(info *buildinfo.BuildInfo, version string, at time.Time) ([]byte, error) {
	data, err := json.MarshalIndent(bomOf(info, version, at), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("list the modules of %s: %w", info.Path, err)
	}
	return append(data, '\n'), nil
}

// bomOf lists the modules that the Go tool recorded in a program, and Go itself for the standard library. version is
// the program's: not every program has recorded its own.
func bomOf(info *buildinfo.BuildInfo, version string, at time.Time) *bom {
	main := componentOf("application", info.Main.Path, version)
	main.Licenses = make([]bomLicense, 1)
	main.Licenses[0].License.ID = "Apache-2.0"
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision", "vcs.time"}, s.Key) {
			main.Properties = append(main.Properties, bomProperty{Name: "build:" + s.Key, Value: s.Value})
		}
	}
	list := &bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: bomMetadata{Component: main},
	}
	if !at.IsZero() {
		list.Metadata.Timestamp = at.UTC().Format(time.RFC3339)
	}
	goVersion, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	list.Components = append(list.Components, componentOf("library", "std", goVersion))
	for _, m := range info.Deps {
		list.Components = append(list.Components, ofModule(m))
	}
	all := bomDependency{Ref: main.Ref}
	for _, c := range list.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	list.Dependencies = []bomDependency{all}
	return list
}

// ofModule returns a module, or the one that replaces it. Its checksum is the one in go.sum.
func ofModule(m *debug.Module) bomComponent {
	if m.Replace != nil {
		m = m.Replace
	}
	c := componentOf("library", m.Path, m.Version)
	if m.Sum != "" {
		c.Properties = []bomProperty{{Name: "go.sum", Value: m.Sum}}
	}
	return c
}

// componentOf names a module as a package URL.
func componentOf(kind, path, version string) bomComponent {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return bomComponent{Ref: purl, Type: kind, Name: path, Version: version, PURL: purl}
}
