package growth

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// named are values for fields whose names show their meaning, the most likely first. The expression must match the
// end of the path.
type named struct {
	path   *regexp.Regexp
	values []any
}

func values(path string, all ...any) named {
	return named{regexp.MustCompile(`(?:^|[.\]}])` + path + `$`), all}
}

// byName has values that are missing in schemas.
var byName = []named{ //nolint:gochecknoglobals // a table of regular expressions
	values(`(?:lastObservedTime|eventTime)`, "2030-01-01T00:00:00.000000Z"),
	values(`matchFields\[\]\.key`, "metadata.name"),
	values(`alidations\[\]\.fieldPath`, ".a"),
	values(`jsonPath`, ".spec.a"),
	values(`(?:labelSelectorPath|specReplicasPath|statusReplicasPath)`, ".spec.a", ".status.a"),
	values(`attributes\{\}\.versions?(?:\[\])?`, "1.0.0"),
	values(`openAPIV3Schema(?:\..*)?\.(?:items|additionalProperties)`, map[string]any{"type": "string"}),
	values(`jsonPatch\.expression`, "[JSONPatch{op: \"add\", path: \"/a\", value: \"b\"}]"),
	values(`(?:podCIDR|podCIDRs\[\]|cidr|cidrs\[\]|clusterCIDR)`, "10.7.0.0/24", "fd00:7::/64"),
	values(`(?:clusterIP|clusterIPs\[\])`, "10.96.0.77", "None"),
	values(`except\[\]`, "10.7.0.0/28"),
	values(`(?:ip|.*IP|.*IPs\[\]|address|addresses\[\]|nameservers\[\]|.*Ranges\[\]|ips\[\])`, "10.7.0.7", "10.0.0.77",
		"10.7.0.0/24", "10.7.0.7/32", "a", "fd00::7"),
	values(`mountPath`, "/a"),
	values(`.*Seconds`, int64(3600), int64(30), int64(1)),
	values(`devicePath`, "/dev/a"),
	values(`(?:path|pathPrefix|.*Path)`, "/a", "a", "metadata.name"),
	values(`fieldPath`, "metadata.name", "spec.nodeName"),
	values(`operator`, "In", "Exists", "Equals"),
	values(`(?:containerResource|resource)\.name`, "cpu"),
	values(`resourceFieldRef\.resource`, "limits.cpu"),
	values(`(?:schedule)`, "0 * * * *"),
	values(`timeZone`, "Etc/UTC"),
	values(`image`, "example.com/a:1"),
	values(`(?:url|.*URL)`, "https://example.com/a"),
	values(`(?:host|hosts\[\]|hostname|.*Host|fqdn)`, "a.example.com", "a"),
	values(`(?:driver|driverName|provisioner|attacher|controller|handler|.*[dD]omain)`, "a.example.com", "a"),
	values(`signerName`, "example.com/a", "kubernetes.io/kube-apiserver-client"),
	values(`usages\[\]`, "client auth", "digital signature"),
	values(`(?:port|.*Port|number|containerPort)`, int64(80), "http"),
	values(`nodePort`, int64(30123)),
	values(`healthCheckNodePort`, int64(30124)),
	values(`serviceAccountName`, "default"),
	values(`(?:namespace|.*Namespace)`, "default", "explore"),
	values(`(?:priorityClassName)`, "system-node-critical", "a"),
	values(`expression`, "true", "'a'", "object.metadata.name", "Object{}",
		"[JSONPatch{op: \"add\", path: \"/a\", value: \"b\"}]"),
	values(`messageExpression`, "'a'"),
	values(`valueExpression`, "'a'", "string(1)"),
	values(`rule`, "true"),
	values(`(?:apiGroup|apiGroups\[\]|group)`, "example.com", "apps", "rbac.authorization.k8s.io", ""),
	values(`(?:apiVersion|apiVersions\[\]|version|versions\[\])`, "v1", "v1alpha1", "a.example.com/v1"),
	values(`resources\[\]`, "pods", "configmaps"),
	values(`verbs\[\]`, "get"),
	values(`operations\[\]`, "CREATE"),
	values(`nonResourceURLs\[\]`, "/a"),
	values(`(?:kind)`, "Pod", "User", "Group", "ServiceAccount", "Node"),
	values(`finalizers\[\]`, "example.com/a", "kubernetes"),
	values(`accessModes\[\]`, "ReadWriteOnce"),
	values(`protocol`, "TCP"),
	values(`appProtocol`, "kubernetes.io/h2c", "http"),
	values(`(?:caBundle|trustBundle|certificate|caData)`, certificate, certificateText),
	values(`spec\.request`, request),
	values(`pkixPublicKey`, "YQ=="),
	values(`(?:iqn|initiatorName)`, "iqn.2001-04.com.example:a"),
	values(`(?:wwids|targetWWNs)\[\]`, "5001"),
	values(`(?:topologyKey|.*Key|key)`, "kubernetes.io/hostname", "a", "example.com/a"),
	values(`(?:scaleTargetRef\.name)`, "a"),
	values(`(?:defaultMode|mode)`, int64(420)),
	values(`maxSkew`, int64(1)),
	values(`weight`, int64(1)),
	values(`(?:cpu|memory)`, "1"),
	values(`type`, "a"),
}

// pool are values of a type, for fields without other known values.
func pool(t fields.Type) []any {
	switch t {
	case fields.String:
		return []any{
			"a", "a.example.com", "example.com/a", "/a", "A", "1", "1h", "10.7.0.7", "10.7.0.0/24", "https://example.com",
			"true", "v1", "Always", "None", "0", "a=b", "2030-01-01T00:00:00Z", "50%", "cpu", "",
		}
	case fields.Integer:
		return []any{
			int64(1), int64(2), int64(10), int64(100), int64(1000), int64(30000), int64(600), int64(3600), int64(0),
			int64(-1),
		}
	case fields.Number:
		return []any{1.5, 1.0, 0.0}
	case fields.Boolean:
		return []any{true, false}
	case fields.Quantity:
		return []any{"1", "1Gi", "100m", "0"}
	case fields.Time:
		return []any{"2030-01-01T00:00:00Z", "2030-01-01T00:00:00.000000Z"}
	case fields.Duration:
		return []any{"1h", "30s"}
	case fields.Bytes:
		return []any{"YQ=="}
	case fields.Either:
		return []any{int64(1), "a", "10%", int64(80)}
	}
	return []any{
		map[string]any{"a": "b"},
		"a", int64(1), true,
		map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}},
	}
}

// candidates are the distinct values to try for a scalar field, the most likely first.
func (g *grower) candidates(f *fields.Field, message string) []any {
	var all []any
	if message != "" {
		all = hints(message, f)
	}
	all = append(all, g.memory.values(f.Owner)...)
	for _, value := range f.Enum {
		if v, ok := coerce(f.Type, value); ok {
			all = append(all, v)
		}
	}
	path := f.Path.String()
	for _, entry := range byName {
		if entry.path.MatchString(path) {
			for _, value := range entry.values {
				if fits(f.Type, value) {
					all = append(all, value)
				}
			}
		}
	}
	if text, ok := byFormat()[f.Format]; ok && f.Type == fields.String {
		all = append(all, text)
	}
	if f.Type == fields.String || f.Type == fields.Either {
		for _, text := range documented(f.Description) {
			all = append(all, text)
		}
	}
	if len(f.Enum) == 0 {
		all = append(all, pool(f.Type)...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(value any) bool {
		text := textOf(value)
		known := seen[text]
		seen[text] = true
		return known
	})
}

// byFormat are values of the string formats in schemas.
func byFormat() map[string]string {
	return map[string]string{
		"date": "2030-01-01", "ipv4": "10.7.0.7", "ipv6": "fd00::7", "cidr": "10.7.0.0/24", "email": "a@example.com",
		"hostname": "a.example.com", "uri": "https://example.com/a", "mac": "02:00:00:00:00:01",
		"uuid": "0a0b0c0d-1111-4222-8333-444455556666", "uuid3": "0a0b0c0d-1111-3222-8333-444455556666",
		"uuid4": "0a0b0c0d-1111-4222-8333-444455556666", "uuid5": "0a0b0c0d-1111-5222-8333-444455556666",
	}
}

func fits(t fields.Type, value any) bool {
	switch value.(type) {
	case string:
		return t == fields.String || t == fields.Either || t == fields.Bytes || t == fields.Quantity ||
			t == fields.Time
	case int64:
		return t == fields.Integer || t == fields.Either
	}
	return true
}

// documented are the values that a field's documentation names.
func documented(description string) []string {
	var all []string
	for _, text := range quotedIn(description) {
		if len(text) > 0 && len(text) < 40 && !strings.ContainsAny(text, " \n{}<>") && len(all) < 8 {
			all = append(all, text)
		}
	}
	return all
}

// build is a value for a field, with all required fields.
func (g *grower) build(f *fields.Field) any {
	switch f.Type {
	case fields.Object:
		m := g.table.of(f.Definition)
		if m == nil {
			m = map[string]any{}
		}
		for _, child := range f.Children {
			if _, has := m[child.Name()]; child.Required && !has {
				m[child.Name()] = g.build(child)
			}
		}
		return m
	case fields.List:
		if item := f.Child(fields.Item); item != nil {
			return []any{g.build(item)}
		}
		return []any{}
	case fields.Map:
		if value := f.Child(fields.Value); value != nil {
			return map[string]any{g.mapKey(f): g.build(value)}
		}
		return map[string]any{}
	}
	return copyOf(g.candidates(f, "")[0])
}

// mapKey is a key for a map.
func (g *grower) mapKey(f *fields.Field) string {
	switch {
	case g.kind.Kind == "PersistentVolumeClaim" && strings.HasPrefix(f.Name(), "allocatedResource"):
		return "storage"
	case f.Child(fields.Value).Type == fields.Quantity:
		return "cpu"
	case strings.HasSuffix(strings.ToLower(f.Name()), "annotations"):
		return "example.com/a"
	}
	return "a"
}
