package nodes

import (
	"maps"
	"net/netip"
)

// addressRange gives the addresses of one range, one after the other. At its end it begins again.
type addressRange struct {
	prefix netip.Prefix
	last   netip.Addr
	// used are the addresses that were in use when the range was last begun.
	used map[netip.Addr]bool
}

// begin returns a range that begins after the highest address in use, so that a pod whose address is not
// known yet, because the program before this one wrote it at its end, most probably keeps it for itself.
func begin(text string, taken func() (map[netip.Addr]bool, error)) (*addressRange, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return nil, err
	}
	used, err := taken()
	if err != nil {
		return nil, err
	}
	r := &addressRange{prefix: prefix.Masked(), used: used}
	r.last = r.prefix.Addr()
	for ip := range maps.Keys(used) {
		if r.prefix.Contains(ip) && r.last.Less(ip) {
			r.last = ip
		}
	}
	return r, nil
}

// next returns the next free address, and false at the end of the range. The first and the last address of a range
// are not given.
func (r *addressRange) next() (netip.Addr, bool) {
	for {
		ip := r.last.Next()
		if !r.prefix.Contains(ip) || !r.prefix.Contains(ip.Next()) {
			return netip.Addr{}, false
		}
		r.last = ip
		if !r.used[ip] {
			return ip, true
		}
	}
}
