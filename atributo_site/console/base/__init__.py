"""What every section of the console shares: screen classes, forms, navigation, charts.

It knows no section.
"""
