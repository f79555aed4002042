package simulator

import (
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
)

// load reads the configuration, with the faults.
func (b behaviour) load(dialect config.Dialect, text []byte) (*config.OperatorConfiguration, error) {
	text, err := b.misread(dialect, text)
	if err != nil {
		return nil, err
	}
	c, err := dialect.Load(text)
	if err != nil {
		return nil, err
	}
	profiles := c.Scheduler.Profiles
	flagged := slices.ContainsFunc(profiles, func(p config.SchedulerProfile) bool { return p.Default })
	if b.Has(faultFirstProfileDefault) && !flagged && len(profiles) > 0 {
		c.Scheduler.DefaultProfileName = profiles[0].Name
	}
	if b.Has(faultNoImplicitDefault) && !flagged {
		c.Scheduler.DefaultProfileName = "none"
	}
	listed := func(p config.SchedulerProfile) bool { return p.Name == config.KAIScheduler }
	if b.Has(faultEveryBackendEnabled) && !slices.ContainsFunc(profiles, listed) {
		c.Scheduler.Profiles = append(c.Scheduler.Profiles, config.SchedulerProfile{Name: config.KAIScheduler})
	}
	return c, nil
}

// misread rewrites a configuration so that its mistakes are hidden. Without such a fault it stays unchanged.
func (b behaviour) misread(dialect config.Dialect, text []byte) ([]byte, error) {
	if !b.Has(faultDefaultFlagIgnored) && !b.Has(faultSeveralDefaults) && !b.Has(faultUnknownProfiles) &&
		!b.Has(faultUnknownFields) && !b.Has(faultDuplicatesAccepted) {
		return text, nil
	}
	var c config.OperatorConfiguration
	read := yaml.UnmarshalStrict
	if b.Has(faultUnknownFields) {
		read = func(text []byte, into any, _ ...yaml.JSONOpt) error { return yaml.Unmarshal(text, into) }
	}
	if err := read(text, &c); err != nil {
		return text, nil // another mistake, which is not hidden
	}
	if b.Has(faultUnknownFields) {
		c.Scheduler.DefaultProfileName = ""
	}
	if b.Has(faultUnknownProfiles) {
		c.Scheduler.Profiles = slices.DeleteFunc(c.Scheduler.Profiles, func(p config.SchedulerProfile) bool {
			return !slices.Contains(dialect.Supported, dialect.Canonical(p.Name))
		})
	}
	seen := map[string]bool{}
	one := false
	var kept []config.SchedulerProfile
	for _, p := range c.Scheduler.Profiles {
		if p.Default && (b.Has(faultDefaultFlagIgnored) || one && b.Has(faultSeveralDefaults)) {
			p.Default = false
		}
		one = one || p.Default
		name := dialect.Canonical(p.Name)
		if !seen[name] || !b.Has(faultDuplicatesAccepted) {
			kept = append(kept, p)
		}
		seen[name] = true
	}
	c.Scheduler.Profiles = kept
	return yaml.Marshal(c)
}
