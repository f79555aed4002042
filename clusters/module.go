package clusters

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// ModuleDir is the name of the variable for the folder of a module's files: $(MODULE).
const ModuleDir = "MODULE"

// SystemModule runs the system as a program of a Go module. The Go tool downloads and verifies the module at the
// system's version. The program is built once, kept in the cache, and run as a process on this machine. In addition to
// the variables of a process, its texts may contain $(MODULE): the folder of the module's files at that version.
type SystemModule struct {
	// Path of the Go module: github.com/open-policy-agent/gatekeeper/v3. Its version is the system's: v3.23.1.
	Path string `json:"path,omitempty"`
	// Package is the folder of the main package: cmd/operator. A nested module in that folder is downloaded at the same
	// version. Default: the root of the module.
	Package string `json:"package,omitempty"`
	// A module has all fields of a process. Its command has only the program's arguments.
	SystemProcess `json:",inline"`
}

// ModuleProgram is a main package of a Go module at a version.
type ModuleProgram struct{ Path, Version, Package string }

// BuiltModule is a built program, and the folder of its module's files.
type BuiltModule struct{ Program, Dir string }

// String returns "cmd/operator of github.com/kedacore/keda/v2@v2.20.2".
func (m ModuleProgram) String() string {
	whole := m.Path + "@" + m.Version
	if m.Folder() == "." {
		return whole
	}
	return m.Folder() + " of " + whole
}

// Folder of the main package in the module: "." or "cmd/operator".
func (m ModuleProgram) Folder() string { return path.Clean(filepath.ToSlash(m.Package)) }

// Check returns an error if the path, the version or the folder is invalid. It does not use the network.
func (m ModuleProgram) Check() error {
	if m.Path == "" {
		return errors.New("a module needs its path, such as github.com/open-policy-agent/gatekeeper/v3")
	}
	if m.Version == "" {
		return fmt.Errorf("module %s needs a version, such as v1.2.3", m.Path)
	}
	if !semver.IsValid(m.Version) || module.CanonicalVersion(m.Version) != m.Version {
		hint := ""
		if whole := "v" + m.Version; semver.IsValid(whole) && module.CanonicalVersion(whole) == whole {
			hint = ": write " + whole
		}
		return fmt.Errorf("%q is no exact version of a Go module, such as v1.2.3%s", m.Version, hint)
	}
	if err := module.Check(m.Path, m.Version); err != nil {
		return err
	}
	if !filepath.IsLocal(m.Folder()) {
		return fmt.Errorf("package %q is no folder of the module", m.Package)
	}
	return nil
}

// Program returns the system's Go program; false if the system is not a module.
func (s System) Program() (ModuleProgram, bool) {
	if s.Module == nil {
		return ModuleProgram{}, false
	}
	return ModuleProgram{Path: s.Module.Path, Version: s.Version, Package: s.Module.Package}, true
}

// Launched returns the settings of a process on this machine (process or module); nil for other systems.
func (s System) Launched() *SystemProcess {
	switch {
	case s.Process != nil:
		return s.Process
	case s.Module != nil:
		return &s.Module.SystemProcess
	}
	return nil
}

func (m SystemModule) with(c SystemModule) SystemModule {
	if c.Path != "" {
		m.Path, m.Package = c.Path, c.Package
	}
	if c.Package != "" {
		m.Package = c.Package
	}
	m.SystemProcess = m.SystemProcess.with(c.SystemProcess)
	return m
}

// NamesModule reports whether a text needs the module's folder.
func NamesModule(text string) bool {
	_, err := ExpandSystem(text, func(name string) (string, bool) { return "", name != ModuleDir })
	return err != nil && strings.Contains(text, "$("+ModuleDir+")")
}
