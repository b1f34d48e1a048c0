"""GOcean 1.0 domain: kernels called once per point of a structured, staggered grid."""
