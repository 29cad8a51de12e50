"""What the sections share: screens, actions, forms, navigation, charts. It imports no section."""
