package transplant

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// serviceRange returns the API server's --service-cluster-ip-range, with two ranges for a dual-stack cluster; "" if the
// data has neither a ServiceCIDR nor an address of Service default/kubernetes. Clusters before 1.33 have no
// ServiceCIDR.
func (f *facts) serviceRange() (string, error) {
	if len(f.ranges) > 0 {
		return strings.Join(f.ranges, ","), nil
	}
	if !f.first.IsValid() {
		return "", nil
	}
	var same, other []netip.Addr
	for _, address := range f.addresses {
		if address.BitLen() == f.first.BitLen() {
			same = append(same, address)
		} else {
			other = append(other, address)
		}
	}
	// Service default/kubernetes has the first address of its range.
	primary, ok := rangeOf(f.first, same, func(p netip.Prefix) bool { return p.Addr().Next() == f.first })
	if !ok {
		return "", fmt.Errorf("no range of addresses begins at that of Service default/kubernetes (%s) and holds those of "+
			"all Services; name it with --service-cluster-ip-range", f.first)
	}
	if len(other) == 0 {
		return primary.String(), nil
	}
	// The beginning of the second range is not known. Its first address is never that of a Service.
	secondary, ok := rangeOf(other[0], other, func(p netip.Prefix) bool { return !slices.Contains(other, p.Addr()) })
	if !ok {
		return "", fmt.Errorf("no range of addresses holds the second addresses of all dual-stack Services (such as %s); "+
			"name both ranges with --service-cluster-ip-range", other[0])
	}
	return primary.String() + "," + secondary.String(), nil
}

// A range has at least 256 addresses, which is usual, and at most a million, which is the API server's limit.
const (
	minRangeBits = 8
	maxRangeBits = 20
)

// rangeOf returns the smallest fitting range that contains an address and all others.
func rangeOf(one netip.Addr, others []netip.Addr, fits func(netip.Prefix) bool) (netip.Prefix, bool) {
	for bits := one.BitLen() - minRangeBits; bits >= one.BitLen()-maxRangeBits; bits-- {
		prefix := netip.PrefixFrom(one, bits).Masked()
		if fits(prefix) && !slices.ContainsFunc(others, func(a netip.Addr) bool { return !prefix.Contains(a) }) {
			return prefix, true
		}
	}
	return netip.Prefix{}, false
}
