package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Dialect is how a configuration is read. If only Supported is set, it is read as GREP-375 says.
type Dialect struct {
	// Supported are the names of the available backends. Kubernetes' own scheduler is DefaultScheduler.
	Supported []string
	// Upstream: the configuration is read as upstream does. Kubernetes' scheduler is only called DefaultScheduler,
	// defaultProfileName names the default, and unknown fields (including default) are ignored.
	Upstream bool
}

// Canonical returns the canonical name of a scheduler: Kubernetes' own may have two names.
func (d Dialect) Canonical(name string) string {
	if name == KubeScheduler && !d.Upstream {
		return DefaultScheduler
	}
	return name
}

// Load reads a configuration, sets its defaults and validates it. In the result, schedulers have their canonical
// names, and DefaultProfileName is set.
func (d Dialect) Load(text []byte) (*OperatorConfiguration, error) {
	c := &OperatorConfiguration{}
	if err := d.decode(text, c); err != nil {
		return nil, fmt.Errorf("invalid %q operator config: %w", "grove-operator", err)
	}
	if d.Upstream && len(c.Scheduler.Profiles) == 0 {
		c.Scheduler.DefaultProfileName = DefaultScheduler // upstream overwrites it
	}
	if errs := d.validate(&c.Scheduler); len(errs) > 0 {
		return nil, fmt.Errorf("invalid %q operator config: %w", "grove-operator", errs.ToAggregate())
	}
	for i := range c.Scheduler.Profiles {
		profile := &c.Scheduler.Profiles[i]
		profile.Name = d.Canonical(profile.Name)
		if profile.Default {
			c.Scheduler.DefaultProfileName = profile.Name
		}
	}
	if c.Scheduler.DefaultProfileName == "" {
		c.Scheduler.DefaultProfileName = DefaultScheduler
	}
	return c, nil
}

func (d Dialect) decode(text []byte, c *OperatorConfiguration) error {
	if d.Upstream {
		if err := yaml.Unmarshal(text, c); err != nil {
			return err
		}
		for i := range c.Scheduler.Profiles {
			c.Scheduler.Profiles[i].Default = false
		}
		return nil
	}
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		return err
	}
	if c.Scheduler.DefaultProfileName != "" {
		return errors.New(`unknown field "scheduler.defaultProfileName"`)
	}
	return nil
}

func (d Dialect) validate(c *SchedulerConfiguration) field.ErrorList {
	path := field.NewPath("scheduler", "profiles")
	var errs field.ErrorList
	var seen, defaults []string
	for i, profile := range c.Profiles {
		at, name := path.Index(i).Child("name"), d.Canonical(profile.Name)
		switch {
		case profile.Name == "":
			errs = append(errs, field.Required(at, "scheduler profile name is required"))
		case !slices.Contains(d.Supported, name):
			errs = append(errs, field.NotSupported(at, profile.Name, d.names()))
		case slices.Contains(seen, name):
			errs = append(errs, field.Duplicate(at, profile.Name))
		}
		seen = append(seen, name)
		if profile.Default {
			defaults = append(defaults, profile.Name)
		}
	}
	if len(defaults) > 1 {
		errs = append(errs, field.Invalid(path, defaults, "only one profile can have default: true"))
	}
	if name := c.DefaultProfileName; name != "" && name != DefaultScheduler && !slices.Contains(seen, name) {
		errs = append(errs, field.Invalid(field.NewPath("scheduler", "defaultProfileName"), name,
			"default profile must be one of the configured profiles"))
	}
	return errs
}

// names are all names that a profile can have.
func (d Dialect) names() []string {
	names := slices.Clone(d.Supported)
	if !d.Upstream {
		names = append(names, KubeScheduler)
	}
	slices.Sort(names)
	return names
}

// Decode reads a profile's options into a struct, strictly. Without options, the struct stays unchanged.
func (p SchedulerProfile) Decode(into any) error {
	if p.Config == nil || len(p.Config.Raw) == 0 {
		return nil
	}
	if !json.Valid(p.Config.Raw) {
		return errors.New("it is no JSON")
	}
	return yaml.UnmarshalStrict(p.Config.Raw, into)
}
